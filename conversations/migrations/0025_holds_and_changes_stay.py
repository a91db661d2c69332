"""The database itself refuses to delete what is held, and to change what was recorded of changes."""

from django.db import migrations

HELD = """
CREATE FUNCTION conversations_refuse_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM conversations_hold
        WHERE lifted_at IS NULL AND (conversation_id = OLD.id OR user_id = OLD.owner_id)
    ) THEN
        RAISE EXCEPTION 'conversation % is held', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER nothing_held_is_deleted BEFORE DELETE ON conversations_conversation
FOR EACH ROW EXECUTE FUNCTION conversations_refuse_held();

CREATE FUNCTION conversations_refuse_hold_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'hold % lasts: lift it', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER no_lasting_hold_is_deleted BEFORE DELETE ON conversations_hold
FOR EACH ROW WHEN (OLD.lifted_at IS NULL) EXECUTE FUNCTION conversations_refuse_hold_deleted();
"""

NO_MORE_HELD = """
DROP TRIGGER nothing_held_is_deleted ON conversations_conversation;
DROP TRIGGER no_lasting_hold_is_deleted ON conversations_hold;
DROP FUNCTION conversations_refuse_held();
DROP FUNCTION conversations_refuse_hold_deleted();
"""

# An account that is closed is no longer named; nothing else of a row ever changes.
STAY = """
CREATE FUNCTION conversations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.by_id IS NULL THEN OLD.by_id := NULL; END IF;
        IF NEW.user_id IS NULL THEN OLD.user_id := NULL; END IF;
        IF NEW IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION 'what was recorded of changes stays as it is' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER retention_changes_stay BEFORE UPDATE OR DELETE ON conversations_retentionchange
FOR EACH ROW EXECUTE FUNCTION conversations_refuse_change();
"""

NO_MORE_STAY = """
DROP TRIGGER retention_changes_stay ON conversations_retentionchange;
DROP FUNCTION conversations_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0024_effective_lives"),
    ]

    operations = [
        migrations.RunSQL(HELD, NO_MORE_HELD),
        migrations.RunSQL(STAY, NO_MORE_STAY),
    ]
