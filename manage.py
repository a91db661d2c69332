#!/usr/bin/env python
"""Django's command line for PocketChat; `manage.py up` runs the whole product."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # What to change is said in it; where it was noticed is of no help.
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
