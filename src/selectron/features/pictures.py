"""Pictures as shades of grey."""

import base64
import binascii
from io import BytesIO
from pathlib import Path

import numpy as np

from selectron.arrays import Matrix
from selectron.extras import extra

PIXELS = 28  # a picture becomes so many rows and columns of grey
MOST_PIXELS = 50_000_000  # of a picture that is read: larger ones are refused


def picture_of(value: object, folder: Path | None) -> bytes:
    """Return a picture: bytes, a data: address, or the name of a file in the folder."""
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes):
        return value
    name = str(value)
    if name.startswith("data:"):
        try:
            return base64.b64decode(name.partition(",")[2], validate=True)
        except binascii.Error:
            raise ValueError("its picture is not base64") from None
    if folder is None:
        raise ValueError(f"the picture {name!r} is named, and there is no folder of pictures")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"the picture {name!r} lies outside its folder")
    return path.read_bytes()


def grey_pixels(picture: bytes, side: int = PIXELS) -> Matrix:
    """Return a picture as side x side shades of grey from 0 to 1."""
    with extra("label"):
        from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    try:
        with Image.open(BytesIO(picture)) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(
                    f"a picture of {image.width} x {image.height} pixels is too large: make it "
                    f"smaller than {MOST_PIXELS:,} in all"
                )
            grey = image.convert("L").resize((side, side), Image.Resampling.BOX)
            return np.asarray(grey, float).reshape(-1) / 255.0
    except UnidentifiedImageError:
        raise ValueError("a picture cannot be read: it is no PNG, JPEG, GIF, BMP or WebP") from None
    except ValueError:
        raise
    except Exception as error:  # decoders raise many kinds, for a picture of too many pixels too
        raise ValueError(f"a picture cannot be read: {error}") from None
