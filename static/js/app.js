// Everything the pages do beyond links and forms. Each module finds its own elements; none needs another to have run.
import "./composer.js";
import "./copy.js";
import "./edit-question.js";
import "./follow.js";
import "./in-place.js";
import "./keep-place.js";
import "./live-reply.js";
import "./local-time.js";
import "./menu.js";
import "./older.js";
import "./rename.js";
import "./responses.js";
import "./sidebar.js";
import "./stop.js";
import "./suggestions.js";
import "./theme.js";
