// The text in the composer and the request key that goes with it: kept while unsent, forgotten once accepted.
import { draftOf, forgetDraft, hasArrived, keepDraft } from "./drafts.js";
import { newRequestKey } from "./request-key.js";

export class ComposerDraft {
  constructor({ conversation, began, text, key }) {
    Object.assign(this, { conversation, text, key, wasSent: false });
    // A conversation begins on another page; there nobody could see that the server had accepted the first question.
    if (began && hasArrived(draftOf(began))) forgetDraft(began);
    this.key.value ||= newRequestKey();
    this.restore();
    addEventListener("pagehide", () => this.keep());
    addEventListener("pageshow", (event) => event.persisted && this.cameBack());
  }

  restore() {
    const draft = draftOf(this.conversation);
    if (!draft || this.text.value) return;
    if (hasArrived(draft)) {
      forgetDraft(this.conversation);
      return;
    }
    this.text.value = draft.text;
    this.wasSent = Boolean(draft.sentAs);
    if (draft.sentAs) this.key.value = draft.sentAs;
  }

  keep() {
    clearTimeout(this.keeping);
    keepDraft(this.conversation, this.text.value, this.wasSent ? this.key.value : "");
  }

  changed() {
    // Other words are another attempt.
    if (this.wasSent) this.key.value = newRequestKey();
    this.wasSent = false;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), 300);
  }

  // Back on a page as it was left: the page that came after it may have seen the text arrive.
  cameBack() {
    if (this.wasSent && !draftOf(this.conversation)) this.accepted();
  }

  sent() {
    this.wasSent = true;
    this.keep();
  }

  accepted() {
    this.text.value = "";
    this.wasSent = false;
    this.key.value = newRequestKey();
    this.keep();
  }
}
