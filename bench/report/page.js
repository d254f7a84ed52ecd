// The page around the charts: filters, legend, colour scheme, tips. Draws one small chart ("a panel") for each
// combination of data set, codec, case and threads that the filters leave, and draws again when a filter, the colour
// scheme or the width changes.
//
// Names are hostile: they go into the page by textContent only.

const data = JSON.parse(document.getElementById("data").textContent);
for (const row of [...data.rows, ...data.sizes]) row.ours = row.engine === data.ours;
const engines = new Set([...data.rows, ...data.sizes].map((row) => row.engine));
const floors = new Set([...data.rows, ...data.sizes].filter((row) => row.floor).map((row) => row.engine));
const peers = [...engines].filter((engine) => engine !== data.ours && !floors.has(engine)).sort();

const form = document.getElementById("filters");
const chosen = (name) => form.elements[name].value;
const is_chosen = (row) =>
  kBlock.every((name) => chosen(name) === "*" || row[name] === undefined || row[name] === chosen(name));

function current_theme() {
  const css = getComputedStyle(document.documentElement);
  const theme = { font: getComputedStyle(document.body).fontFamily, peers: [] };
  for (const name of ["ours", "floor", "ink", "soft", "grid", "panel"])
    theme[name] = css.getPropertyValue(`--${name}`).trim();
  for (let i = 0; i < kPeerColours; i++) theme.peers.push(css.getPropertyValue(`--peer-${i}`).trim());
  return theme;
}

// Shape and colour of an engine: 8 shapes and 7 colours, so that 56 peers differ.
const look_in = (theme) => (engine) => {
  if (engine === data.ours) return { shape: kDisc, colour: theme.ours };
  if (floors.has(engine)) return { shape: kFloorShape, colour: theme.floor };
  const i = peers.indexOf(engine);
  return { shape: kShapes[i % kShapes.length], colour: theme.peers[i % kPeerColours] };
};

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function svg_element(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function draw_legend(look) {
  const entries = [data.ours, ...peers, ...floors]
    .filter((engine) => engines.has(engine))
    .map((engine) => {
      const { shape, colour } = look(engine);
      const svg = svg_element("svg", { viewBox: "-1.3 -1.3 2.6 2.6", width: 13, height: 13, "aria-hidden": true });
      svg.append(svg_element("path", { d: shape, fill: colour }));
      return element("span", { className: engine === data.ours ? "ours" : "" }, svg, engine);
    });
  document.getElementById("legend").replaceChildren(...entries);
}

const tip = document.getElementById("tip");
function show_tip(_, event, __, value) {
  tip.hidden = value == null || value === "";
  if (tip.hidden) return;
  tip.textContent = value;
  const { width, height } = tip.getBoundingClientRect();
  const below = event.clientY + 16;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4))}px`;
  tip.style.top = `${below + height > innerHeight ? event.clientY - height - 8 : below}px`;
}

function grouped(rows, by) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(by.map((name) => row[name]));
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups.values()];
}

function panel_title(row, by) {
  const words = (name) =>
    name === "threads" ? `${row.threads} ${row.threads === "1" ? "thread" : "threads"}` : row[name];
  return by.map(words).join(" · ");
}

// Expressions are interpreted, not compiled: the page's policy forbids eval.
const kEmbed = { mode: "vega", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: show_tip };
let drawn = [];
let drawing = 0; // counts the drawings, so that one that was overtaken stops

async function draw() {
  const mine = ++drawing;
  const theme = current_theme();
  const look = look_in(theme);
  drawn.splice(0).forEach((chart) => chart.finalize());
  draw_legend(look);
  const memory = chosen("memory");
  const memory_name = memory === "rss" ? "peak RSS" : "pool peak";
  for (const { section, data: source, by, draw: specification_of } of kCharts) {
    const rows = data[source].filter(is_chosen);
    const groups = grouped(rows, by);
    const place = document.querySelector(`#${section} .panels`);
    place.replaceChildren();
    place.classList.toggle("alone", groups.length === 1);
    for (const group of groups) {
      const title = panel_title(group[0], by);
      const box = element("div", {});
      const panel = element("figure", { className: "panel" }, element("h3", { textContent: title }), box);
      place.append(panel);
      const width = box.clientWidth;
      const context = { rows, memory, memory_name, width, alone: groups.length === 1 };
      const specification = specification_of(group, theme, look, context);
      if (!specification) {
        panel.remove();
        continue;
      }
      const description = `${title}. ${specification.description}`;
      const chart = await vegaEmbed(box, { ...specification, width, description }, kEmbed);
      if (mine !== drawing) return chart.finalize();
      drawn.push(chart);
    }
    if (!place.children.length) {
      place.append(
        element("p", { className: "empty", textContent: "Nothing to draw for this choice: the tables tell why." }),
      );
    }
  }
  document.documentElement.dataset.drawn = mine; // check.py waits for it
}

function filter_tables() {
  for (const row of document.querySelectorAll("tbody tr")) row.hidden = !is_chosen(row.dataset);
  const shown = document.querySelectorAll("#summary tbody tr:not([hidden], .none)").length;
  document.getElementById("shown").textContent = `${shown} configurations shown`;
}

function update() {
  filter_tables();
  draw();
}

form.addEventListener("change", update);
form.addEventListener("submit", (event) => event.preventDefault());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
let last_width = innerWidth;
let waiting;
addEventListener("resize", () => {
  if (innerWidth === last_width) return; // a phone's address bar comes and goes
  last_width = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(draw, 150);
});
update();
