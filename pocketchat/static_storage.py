"""Static files under names made of their content, so that browsers keep them for ever and never mix two releases."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise ships no types
    """Also the modules that scripts import get such names."""

    support_js_module_import_aggregation = True
