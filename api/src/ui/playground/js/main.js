// The playground: shows one of its panels, the one that the address names.
import "./key.js";
import { t } from "./data.js";
import { byId } from "./dom.js";
import { handedOver } from "./key.js";
import { startDraw } from "./draw.js";
import { startJobs } from "./jobs.js";
import { startSpeak } from "./speak.js";
import { startWrite } from "./write.js";

const PANELS = ["draw", "write", "speak", "jobs"];
const jobs = startJobs();
const write = startWrite();
startDraw();
startSpeak();

/** @param {boolean} byPerson whether somebody chose the panel, so that the focus goes there */
function show(byPerson) {
  const name = PANELS.find((panel) => location.hash === `#${panel}`) ?? "draw";
  for (const panel of PANELS) byId(`panel-${panel}`).hidden = panel !== name;
  document.title = `${t(`${name}.name`)} · Akhar`;
  for (const link of document.querySelectorAll(".sections a")) {
    if (/** @type {HTMLAnchorElement} */ (link).hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (byPerson) {
    scrollTo(0, 0);
    byId(`${name}-title`).focus({ preventScroll: true });
  }
  jobs.setShown(name === "jobs");
  write.setShown(name === "write");
}

const languageLink = byId("language", HTMLAnchorElement);
languageLink.addEventListener("click", () => (languageLink.hash = location.hash));
addEventListener("hashchange", () => {
  if (location.hash !== "#main") show(true);
});
await handedOver;
show(false);
