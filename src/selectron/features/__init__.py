"""What a row is made of: texts, pictures, numbers and categories as columns."""
