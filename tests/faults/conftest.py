"""An installation of its own for all faults done to it, one person who uses it meanwhile, and one who moves there."""

from collections.abc import Iterator

import pytest

from tests.product import Product, running_product
from tests.stack import Caller


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    with running_product() as running:
        yield running


@pytest.fixture(scope="module")
def person(product: Product) -> Iterator[Caller]:
    with product.new_caller("person@example.org") as caller:
        yield caller
