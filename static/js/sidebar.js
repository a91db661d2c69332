// Brings the conversation one reads into view in the list.
document.querySelector(".entry-link[aria-current]")?.scrollIntoView({ block: "nearest" });
