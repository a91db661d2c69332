"""All settings, from the environment or `.env`; the README has the table.

What protects is on unless somebody asked otherwise. `DATABASE_URL`, `REDIS_URL` and the model settings each replace
one embedded service; while they are unset the service that `manage.py up` starts is used.
"""

import os
from pathlib import Path
from urllib.parse import quote, urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured

from pocketchat.embedded.places import Places
from pocketchat.environment import LOOPBACK, Environment, choice, made_folder, mail_server, postgres_database
from pocketchat.logs import logging_config
from pocketchat.secret_key import kept_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

env = Environment()
env.read_env(os.environ.get("POCKETCHAT_ENV_FILE", BASE_DIR / ".env"))

PLACES = Places(var=Path(env.str("POCKETCHAT_VAR", default=str(BASE_DIR / "var"))).resolve())

# --- Where the product stands -----------------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", default=False)

POCKETCHAT_HOST = env.str("POCKETCHAT_HOST", default="127.0.0.1")
POCKETCHAT_PORT = env.int("POCKETCHAT_PORT", default=8000)
"""Where `manage.py up` listens."""
POCKETCHAT_URL = env.str("POCKETCHAT_URL", default=f"http://localhost:{POCKETCHAT_PORT}").rstrip("/")
POCKETCHAT_ALLOW_HTTP = env.bool("POCKETCHAT_ALLOW_HTTP", default=False)
"""Whether http may leave this machine: in a container whose port is published here, in a network one trusts."""
_address = urlsplit(POCKETCHAT_URL)
if _address.scheme not in ("http", "https") or not _address.hostname:
    raise ImproperlyConfigured("POCKETCHAT_URL must be a full address, such as https://chat.example.org")

_is_loopback = _address.hostname in LOOPBACK
ALLOWED_HOSTS = [*(f"[{name}]" if ":" in name else name for name in LOOPBACK), *env.list("ALLOWED_HOSTS", default=[])]
if not _is_loopback:
    ALLOWED_HOSTS.append(_address.hostname)
CSRF_TRUSTED_ORIGINS = [f"{_address.scheme}://{_address.netloc}"]

# --- The three services -----------------------------------------------------------------------------------------------

POCKETCHAT_EMBEDDED_DATABASE = not env.str("DATABASE_URL", default="")
POCKETCHAT_EMBEDDED_REDIS = not env.str("REDIS_URL", default="")

if POCKETCHAT_EMBEDDED_DATABASE:
    _database: dict[str, object] = {
        "NAME": "pocketchat",
        "USER": "postgres",
        "HOST": str(PLACES.postgres_socket_folder),
    }
else:
    _database = postgres_database(env, "DATABASE_URL")

POCKETCHAT_DATABASE_POOL = env.int("POCKETCHAT_DATABASE_POOL", default=20)
"""Database connections of one process at most, and requests that a web process works on at once; 0: no pool."""
_options: dict[str, object] = {"application_name": "pocketchat"}
if POCKETCHAT_DATABASE_POOL:
    _options["pool"] = {"min_size": 1, "max_size": POCKETCHAT_DATABASE_POOL, "timeout": 10}
_database["OPTIONS"] = {**dict(_database.get("OPTIONS") or {}), **_options}  # type: ignore[call-overload]  # a JSON-like dict
# A connection that died with its server is noticed before it is used again.
_database["ENGINE"] = "pocketchat.pooled_postgresql"
_database["CONN_HEALTH_CHECKS"] = not POCKETCHAT_DATABASE_POOL
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = f"unix://{quote(str(PLACES.valkey_socket))}?db=0" if POCKETCHAT_EMBEDDED_REDIS else env.str("REDIS_URL")

CACHES = {"default": {"BACKEND": "pocketchat.cache.Cache", "LOCATION": REDIS_URL}}

SECRET_KEY = env.str("SECRET_KEY", default="")
if not SECRET_KEY:
    if not POCKETCHAT_EMBEDDED_DATABASE:
        raise ImproperlyConfigured(
            "SECRET_KEY must be set when DATABASE_URL is: a long random text, the same on all hosts"
        )
    try:
        SECRET_KEY = kept_secret_key(PLACES.secret_key)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {PLACES.var} cannot be written to ({error.strerror}): "
            "make room or give the right, or choose another folder with POCKETCHAT_VAR."
        ) from error

# --- Models -----------------------------------------------------------------------------------------------------------

POCKETCHAT_CHAT_MODEL = env.str("POCKETCHAT_CHAT_MODEL", default="")
"""`provider:name` as pydantic-ai writes it; empty means the bundled model."""
POCKETCHAT_CHAT_BASE_URL = env.str("POCKETCHAT_CHAT_BASE_URL", default="")
"""An OpenAI-compatible server (Ollama, vLLM, LM Studio, …); empty means the provider's own address."""
POCKETCHAT_CHAT_API_KEY = env.str("POCKETCHAT_CHAT_API_KEY", default="")
"""Key for the base URL; providers' own variables (OPENAI_API_KEY, ANTHROPIC_API_KEY, …) are read as usual."""
POCKETCHAT_BUNDLED_URL = env.str("POCKETCHAT_BUNDLED_URL", default="")
"""Set by `manage.py up` for the processes it starts: where the bundled model listens."""
POCKETCHAT_SYSTEM_PROMPT = env.str(
    "POCKETCHAT_SYSTEM_PROMPT",
    default="You are a helpful assistant. Answer clearly and briefly.",
)

POCKETCHAT_CONTEXT_WINDOW = env.int("POCKETCHAT_CONTEXT_WINDOW", default=0)
"""Tokens the chat model can take; 0 means what is known of the model."""
POCKETCHAT_SMALL_MODEL = env.str("POCKETCHAT_SMALL_MODEL", default="")
"""`provider:name` of a cheaper model for titles and summaries, at the server of the chat model where the provider is
the same; empty: the chat model itself."""
POCKETCHAT_RECALL = env.bool("POCKETCHAT_RECALL", default=True)
"""Whether older turns that match a question are brought back; without, none are indexed behind replies, either."""
POCKETCHAT_EMBEDDER = env.str("POCKETCHAT_EMBEDDER", default="")
"""`provider:name` of what makes messages findable by what they mean, at a server that speaks OpenAI's dialect; empty:
the bundled one. Another one makes the index anew."""
POCKETCHAT_EMBEDDER_BASE_URL = env.str("POCKETCHAT_EMBEDDER_BASE_URL", default="")
"""The server's address; empty: OpenAI's own."""
POCKETCHAT_EMBEDDER_API_KEY = env.str("POCKETCHAT_EMBEDDER_API_KEY", default="")
"""Its key; empty: OPENAI_API_KEY at OpenAI's own address, none elsewhere."""
POCKETCHAT_EMBEDDER_DIMENSIONS = env.int("POCKETCHAT_EMBEDDER_DIMENSIONS", default=0)
"""Numbers of a vector, for models that can be asked for fewer; 0: the model's own."""
POCKETCHAT_TITLES = env.bool("POCKETCHAT_TITLES", default=True)
"""Whether a model names conversations; without, the first words of the first question stay their title."""
POCKETCHAT_SUMMARIES = env.bool("POCKETCHAT_SUMMARIES", default=True)
"""Whether a model writes summaries of what no longer fits into a request; without, none are sent, either."""
POCKETCHAT_MODELS = env.str("POCKETCHAT_MODELS", default="")
"""What is so of single models and not of all: the path of a JSON file, or that JSON (see `providers.overrides`)."""
POCKETCHAT_REPLY_TOKENS = env.int("POCKETCHAT_REPLY_TOKENS", default=2000)
"""Tokens kept free for the reply and sent as its limit."""
POCKETCHAT_HISTORY_TOKENS = env.int("POCKETCHAT_HISTORY_TOKENS", default=12_000)
"""Tokens of earlier turns sent at most."""
POCKETCHAT_RETRIEVED_TOKENS = env.int("POCKETCHAT_RETRIEVED_TOKENS", default=3000)
"""Tokens kept free for a summary and for recalled turns."""
POCKETCHAT_SYSTEM_TOKENS = env.int("POCKETCHAT_SYSTEM_TOKENS", default=1500)
"""Tokens a conversation's own system prompt may have."""
POCKETCHAT_CONTEXT_POLICY = env.str("POCKETCHAT_CONTEXT_POLICY", default="tokens")
"""Which earlier turns are sent: `tokens` fills the model's budget, `pairs` sends six completed pairs at most."""
POCKETCHAT_PROMPT_CHARACTERS = env.int("POCKETCHAT_PROMPT_CHARACTERS", default=100_000)
"""Characters a question may have; the model's window may allow fewer."""
POCKETCHAT_PROVIDER_SILENCE = env.float("POCKETCHAT_PROVIDER_SILENCE", default=60.0)
"""Seconds a provider may send nothing before the reply is given up; ten times as long when it sends signs of life."""

POCKETCHAT_TOOLS = env.bool("POCKETCHAT_TOOLS", default=True)
"""Whether models are offered tools; the bundled one, and those known to take none, never are."""
POCKETCHAT_TOOL_ROUNDS = env.int("POCKETCHAT_TOOL_ROUNDS", default=5)
"""How often a model may call tools for one question before it has to answer."""
POCKETCHAT_MCP_SERVERS = env.str("POCKETCHAT_MCP_SERVERS", default="")
"""Servers of further tools: the path of a JSON file of the usual `mcpServers` shape, or that JSON; empty: none."""

# --- Turns ------------------------------------------------------------------------------------------------------------

POCKETCHAT_LEASE = env.float("POCKETCHAT_LEASE", default=15.0)
"""Seconds a worker holds a turn without renewing; after that the sweep calls the turn interrupted."""
POCKETCHAT_HEARTBEAT = env.float("POCKETCHAT_HEARTBEAT", default=0.5)
"""Seconds between a worker's renewals; also how soon it notices that a turn shall stop."""
POCKETCHAT_REPLIES_A_PERSON = env.int("POCKETCHAT_REPLIES_A_PERSON", default=20)
"""Replies of one person that may be written at the same time."""
POCKETCHAT_STREAM_LIFE = env.int("POCKETCHAT_STREAM_LIFE", default=600)
"""Seconds a finished turn's events stay in Redis; afterwards the stored reply is served instead."""

POCKETCHAT_EXPORT_DAYS = env.int("POCKETCHAT_EXPORT_DAYS", default=7)
"""Days an export of everything is kept for its owner to download."""
POCKETCHAT_IMPORT_BYTES = env.int("POCKETCHAT_IMPORT_BYTES", default=500_000_000)
"""Bytes of a file of conversations that a person brings in."""

# --- Application ------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "accounts",
    "conversations",
    "pocketchat",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "django_celery_beat",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "pocketchat.security.content_security_policy",
    "pocketchat.sound_requests.sound_requests",
    "pocketchat.time_zone.reader_time_zone",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "pocketchat.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.context.mail",
            ],
        },
    },
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
# Our pages speak English, and so does what Django and allauth add to them: without LocaleMiddleware nobody asks the
# browser for its language.
LANGUAGE_CODE = "en"
TIME_ZONE = choice(env, "TIME_ZONE", default="UTC", of=available_timezones())
USE_TZ = True
USE_I18N = True

# --- Accounts ---------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "conversations:home"
LOGOUT_REDIRECT_URL = "account_login"

ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {"signup": "accounts.forms.SignupForm"}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = choice(
    env, "ACCOUNT_EMAIL_VERIFICATION", default="optional", of=("mandatory", "optional", "none")
)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _address.scheme
# On this machine the first person makes an account; a server with a database of its own is not open by oversight.
POCKETCHAT_OPEN_SIGNUP = env.bool("POCKETCHAT_OPEN_SIGNUP", default=POCKETCHAT_EMBEDDED_DATABASE)

vars().update(mail_server(env, "EMAIL_URL", default="consolemail://"))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=f"PocketChat <noreply@{_address.hostname}>")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

# --- API --------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # The first says how to authenticate to those who did not: 401, not 403.
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["conversations.api.json.Parser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "conversations.api.errors.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "PocketChat",
    "DESCRIPTION": "Conversations, turns and what the model sees of them.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Several things have a status; each has its own words for it.
    "ENUM_NAME_OVERRIDES": {
        "TurnStatus": "conversations.models.Turn.Status",
        "ExportStatus": "conversations.models.Export.Status",
        "ImportStatus": "conversations.models.Import.Status",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "conversations.api.schema.add_events",
    ],
}
REST_KNOX = {"TOKEN_TTL": None}

# --- Tasks ------------------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "background"
# What asks a model goes to the workers that have the models' clients loaded.
CELERY_TASK_ROUTES = {
    f"conversations.{task}": {"queue": "replies"}
    for task in ("answer", "name_conversation", "suggest_title", "roll_summary")
}
# The row, not the queue, says whether a turn still has to be answered: a task lost with its worker is not repeated.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_SCHEDULE = {
    "end abandoned turns": {"task": "conversations.sweep", "schedule": 5.0},
    "renew the index of recall": {"task": "conversations.renew_index", "schedule": 3600.0},
    "finish erasures": {"task": "conversations.finish_erasures", "schedule": 10.0},
    "look after exports": {"task": "conversations.tend_exports", "schedule": 60.0},
    "look after imports": {"task": "conversations.tend_imports", "schedule": 60.0},
}

# --- Static files -----------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = PLACES.var / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "pocketchat.static_storage.ModuleStorage"
    },
}

# --- Protection -------------------------------------------------------------------------------------------------------

_is_https = _address.scheme == "https"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _is_https
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000) if _is_https else 0
# These two bind hosts that are not ours, for years: their owner has to say so.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", default=False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# A pasted text far too long still arrives, so that it can be refused with its size and the limit; what is larger than
# this is refused by pocketchat.gatekeeper.
DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000_000
FILE_UPLOAD_TEMP_DIR = made_folder(PLACES.uploads)
# JSON takes up to a hundred times its size in memory. Escaped, a character beyond the first 65,536 takes twelve bytes.
POCKETCHAT_API_BODY_BYTES = max(2_000_000, 13 * POCKETCHAT_PROMPT_CHARACTERS)
if not _is_https and (_is_loopback or POCKETCHAT_ALLOW_HTTP):
    # On this machine alone there is no network to protect and no certificate to have; an http address
    # anywhere else is an error (pocketchat.checks) unless somebody has answered for the network.
    SILENCED_SYSTEM_CHECKS += ["security.W004", "security.W008", "security.W012", "security.W016"]

LOGGING_CONFIG = "pocketchat.logs.configure"
LOGGING = logging_config(folder=PLACES.logs, process=env.str("POCKETCHAT_PROCESS", default=""), debug=DEBUG)
