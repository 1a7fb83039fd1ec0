// Updates the numbers of the overview as they change. Without this script, the page shows them as they were when it was loaded.

const status = document.querySelector("#live");

// Gets the page again, and replaces its content. The element that has the focus keeps it.
async function reload() {
  const response = await fetch(location.pathname, { headers: { accept: "text/html" } });
  if (response.redirected || !response.ok) {
    location.reload();
    return;
  }
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const focused = document.activeElement?.id;
  document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
  if (focused) {
    document.getElementById(focused)?.focus();
  }
  show(true);
}

function show(isConnected) {
  const shown = document.querySelector("#live");
  shown.hidden = false;
  shown.classList.toggle("lost", !isConnected);
  const text = isConnected ? shown.dataset.live : shown.dataset.lost;
  if (shown.textContent !== text) {
    shown.textContent = text;
  }
}

function apply({ layout, values }) {
  if (document.querySelector("#live").dataset.layout !== layout) {
    return reload();
  }
  for (const [id, value] of Object.entries(values)) {
    const element = document.getElementById(id);
    if (element && element.textContent !== value) {
      element.textContent = value;
    }
  }
  show(true);
}

if (status) {
  const events = new EventSource(new URL("../../ops/events", import.meta.url));
  events.addEventListener("overview", (event) => apply(JSON.parse(event.data)));
  events.addEventListener("error", () => show(false));
}
