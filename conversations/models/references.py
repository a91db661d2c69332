"""Foreign keys the database keeps by itself: over several columns, and cascading.

Django's own foreign keys name one column and cascade in Python. Here a message's parent must stand in the
same conversation, and deleting a conversation must be one statement whatever the number of its rows; both are
what PostgreSQL does best. The model's field stays an ordinary `ForeignKey` with `db_constraint=False`.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import BaseConstraint, Model


class Reference(BaseConstraint):
    """`fields` of this table are `to_fields` of a row of `to`.

    `on_delete` is SQL: `CASCADE`, or `SET NULL (column)`.
    """

    def __init__(
        self,
        *,
        name: str,
        fields: Sequence[str],
        to: str,
        to_fields: Sequence[str],
        on_delete: str = "CASCADE",
    ) -> None:
        super().__init__(name=name)
        self.fields = tuple(fields)
        self.to = to
        self.to_fields = tuple(to_fields)
        self.on_delete = on_delete

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        kwargs |= {
            "fields": self.fields,
            "to": self.to,
            "to_fields": self.to_fields,
            "on_delete": self.on_delete,
        }
        return path, args, kwargs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self.deconstruct() == other.deconstruct()

    def __hash__(self) -> int:
        return hash(self.name)

    def constraint_sql(self, model: type[Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        """Deferred to the commit, so that rows which name each other can be written in either order."""
        assert model is not None
        assert schema_editor is not None
        quote = schema_editor.quote_name
        # In a migration the model knows its neighbours as they were then; outside, as they are.
        registry = model._meta.apps or apps
        target = registry.get_model(self.to)
        here = ", ".join(quote(_column(model, field)) for field in self.fields)
        there = ", ".join(quote(_column(target, field)) for field in self.to_fields)
        return (
            f"CONSTRAINT {quote(self.name)} FOREIGN KEY ({here}) REFERENCES {quote(target._meta.db_table)} ({there}) "
            f"ON DELETE {self.on_delete} DEFERRABLE INITIALLY DEFERRED"
        )

    def create_sql(self, model: type[Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        assert model is not None
        assert schema_editor is not None
        table = schema_editor.quote_name(model._meta.db_table)
        return f"ALTER TABLE {table} ADD {self.constraint_sql(model, schema_editor)}"

    def remove_sql(self, model: type[Model] | None, schema_editor: BaseDatabaseSchemaEditor | None) -> str:
        assert model is not None
        assert schema_editor is not None
        quote = schema_editor.quote_name
        return f"ALTER TABLE {quote(model._meta.db_table)} DROP CONSTRAINT {quote(self.name)}"

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to say in a form: only code sets these columns, and the database checks it."""


def _column(model: type[Model], field: str) -> str:
    try:
        column = model._meta.get_field(field).column  # type: ignore[union-attr]  # the AttributeError is meant
    except (FieldDoesNotExist, AttributeError) as error:
        raise FieldDoesNotExist(f"{model._meta.label} has no column for {field!r}") from error
    return str(column)
