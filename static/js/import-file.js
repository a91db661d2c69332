// Sending a file of conversations: how much of it has gone, and what is wrong, on the page it is sent from.
const percent = (event) => Math.floor((100 * event.loaded) / event.total);

function tell(form, sentence) {
  const place = form.querySelector("[data-problem]");
  place.textContent = sentence;
  place.hidden = !sentence;
  form.querySelector("[data-sending]").hidden = true;
  form.querySelector("button").disabled = false;
}

function show(form, share) {
  const sending = form.querySelector("[data-sending]");
  sending.hidden = false;
  sending.querySelector("progress").value = share;
  sending.querySelector("[data-told]").textContent = share < 100 ? `${share} % sent` : "Sent. One moment…";
}

function why(request) {
  const isOurs = request.getResponseHeader("Content-Type")?.startsWith("text/plain");
  return isOurs && request.responseText ? request.responseText : "The server did not take the file. Try again.";
}

function send(form) {
  const request = new XMLHttpRequest(); // fetch does not say how much has been sent
  request.upload.addEventListener("progress", (event) => event.lengthComputable && show(form, percent(event)));
  request.addEventListener("load", () => {
    if (request.status < 400) location.assign(request.responseURL);
    else tell(form, why(request));
  });
  request.addEventListener("error", () => tell(form, "The connection was lost. Nothing was imported; try again."));
  request.open("POST", form.action);
  request.setRequestHeader("X-Requested-With", "XMLHttpRequest");
  request.send(new FormData(form));
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-import-file]");
  if (!form) return;
  event.preventDefault();
  tell(form, "");
  const size = form.querySelector("input[type=file]").files[0]?.size ?? 0;
  if (size > Number(form.dataset.most)) {
    tell(form, `This file is larger than ${Number(form.dataset.most).toLocaleString("en")} bytes, which is the most.`);
    return;
  }
  form.querySelector("button").disabled = true;
  show(form, 0);
  send(form);
});
