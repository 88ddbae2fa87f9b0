"""Items to try labelling with, made here: letters to a shop, and handwritten digits."""

import base64
from collections.abc import Iterator
from io import BytesIO
from random import Random

from selectron.extras import extra
from selectron.labelling.items import Entry

TICKETS = 600
TICKET_CLASSES = ("billing", "delivery", "login", "return")
DIGIT_CLASSES = tuple("0123456789")
SIDE = 64  # pixels of a digit on the page

OPENINGS = ("Hello,", "Hi,", "Good morning,", "Dear team,", "Hi there,", "Hello again,", "Hey,")
PRODUCTS = ("lamp", "kettle", "speaker", "desk chair", "backpack", "camera", "rain jacket")
WHEN = ("yesterday", "last week", "on Monday", "two days ago", "on the 3rd", "this morning")
CLOSINGS = (
    "Thanks in advance!",
    "Could you look into it?",
    "Please let me know what to do.",
    "Best wishes",
    "I would be glad to hear from you soon.",
    "Thank you for your help.",
)
SENTENCES = {
    "billing": (
        "I was charged twice for the {product}.",
        "The invoice from {when} shows the wrong amount.",
        "My card was declined although there is money in the account.",
        "Please send me a receipt for the {product} with the VAT on it.",
        "The discount code was not taken off the price.",
        "Can I pay for the {product} in three instalments?",
        "There is a payment of {amount} euros that I do not recognise.",
    ),
    "delivery": (
        "The parcel with the {product} has not arrived yet.",
        "Tracking has said 'in transit' since the order left {when}.",
        "The courier left the {product} with a neighbour I do not know.",
        "Can you send the {product} to my office address instead?",
        "It was meant to be here {when}, and nobody rang the bell.",
        "The box was open and wet when it came.",
        "How long does shipping take to the islands?",
    ),
    "login": (
        "I cannot sign in since {when}.",
        "The reset mail for my password never comes.",
        "The app says that my account is locked.",
        "The code by text message does not work.",
        "I changed my phone and lost the second factor.",
        "Whenever I enter my password the page loads again.",
        "How do I change the mail address of my account?",
    ),
    "return": (
        "The {product} is too small and I want to send it back.",
        "How do I return the {product} that came {when}?",
        "The {product} stopped working after {amount} days.",
        "I sent the {product} back {when} and wait for the refund.",
        "Can I exchange the {product} for another colour?",
        "The return label cannot be printed.",
        "The {product} has a scratch, is it under warranty?",
    ),
}
ASIDES = (
    "I ordered the {product} {when}.",
    "My order number is {number}.",
    "I have been a customer for years.",
    "I wrote to you {when} already.",
    "The website was slow {when}, by the way.",
    "The {product} itself is lovely.",
    "I paid {amount} euros for it.",
    "My account is under this mail address.",
)


def tickets(n: int = TICKETS, seed: int = 7) -> Iterator[Entry]:
    """Write letters to a shop; always the same ones.

    Examples
    --------
    >>> print(next(tickets()).item["text"])
    Hey,
    I ordered the lamp on Monday. The reset mail for my password never comes.
    I would be glad to hear from you soon.
    """
    draw = Random(seed)
    for number in range(1, n + 1):
        parts = [draw.choice(SENTENCES[draw.choice(TICKET_CLASSES)])]
        parts += draw.sample(ASIDES, draw.randint(0, 2))
        draw.shuffle(parts)
        text = "\n".join([draw.choice(OPENINGS), " ".join(parts), draw.choice(CLOSINGS)]).format(
            product=draw.choice(PRODUCTS),
            when=draw.choice(WHEN),
            amount=draw.randint(12, 240),
            number=draw.randint(10_000, 99_999),
        )
        yield Entry({"id": f"ticket-{number}", "text": text}, [], [], [], f"ticket {number}")


def digits() -> Iterator[Entry]:
    """Return scikit-learn's digits as pictures."""
    with extra("label"):
        from PIL import Image  # noqa: PLC0415
    from sklearn.datasets import load_digits  # noqa: PLC0415 - costs seconds

    for number, ink in enumerate(load_digits().images, 1):
        grey = Image.fromarray((255 - ink * 255 / 16).astype("uint8"))
        out = BytesIO()
        grey.resize((SIDE, SIDE), Image.Resampling.NEAREST).save(out, "PNG")
        image = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
        yield Entry({"id": f"digit-{number}", "image": image}, [], [], [], f"digit {number}")
