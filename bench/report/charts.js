// The charts: functions from the measured rows of one panel to a Vega specification. build.py puts this file and
// page.js into one script.
//
// Names in the rows are hostile. Here they are only ever values of data, never part of an expression or a field's name.

const kMiB = 2 ** 20;

// Shapes lie in the square from -1 to 1; Frazil's is the only disc. The legend draws the same paths.
const kDisc = "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z";
const kShapes = [
  "M-.85,-.85L.85,-.85L.85,.85L-.85,.85Z", // square
  "M0,-1.1L1,.75L-1,.75Z", // triangle, up
  "M0,-1.15L1.15,0L0,1.15L-1.15,0Z", // diamond
  "M-.35,-1L.35,-1L.35,-.35L1,-.35L1,.35L.35,.35L.35,1L-.35,1L-.35,.35L-1,.35L-1,-.35L-.35,-.35Z", // plus
  "M0,1.1L1,-.75L-1,-.75Z", // triangle, down
  "M-1,-1L1,1L1,-1L-1,1Z", // bow tie
  "M.5,-.92L.92,-.5L.42,0L.92,.5L.5,.92L0,.42L-.5,.92L-.92,.5L-.42,0L-.92,-.5L-.5,-.92L0,-.42Z", // saltire
  "M-1,-1L-1,1L1,-1L1,1Z", // hour glass, lying
];
const kFloorShape = "M-1.1,-.3L1.1,-.3L1.1,.3L-1.1,.3Z"; // a bar
const kPeerColours = 7;

// ---- figures

const three_digits = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
const figure = (value) => three_digits.format(value);
const range = ({ median, min, max }, scale, unit) =>
  `${figure(median * scale)} ${unit} [${figure(min * scale)}–${figure(max * scale)}]`;

function doublings(low, high) {
  const ticks = [];
  for (let tick = 2 ** Math.floor(Math.log2(low)); tick < high * 2; tick *= 2) ticks.push(tick);
  return ticks;
}

// Round numbers within a logarithmic axis: more of them a decade where it spans less.
function round_ticks(low, high) {
  const narrow = [1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const steps = high / low > 12 ? [1, 2, 5] : high / low > 2.5 ? [1, 1.5, 2, 3, 5, 7] : narrow;
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    ticks.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(3))));
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

const bounds = (values, room) => [Math.min(...values) / room, Math.max(...values) * room];

// ---- parts of specifications

const fixed = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
const at = (scale, field, more) => ({ scale, field, ...more });
const kMiddle = at("y", "name", { band: 0.5 });

// What a mark says: its accessible name and the lines of its tip.
const kSays = {
  description: { signal: "datum.name + ': ' + datum.what" },
  tooltip: { signal: "datum.name + '\\n' + datum.what" },
};
const kSilent = fixed({ aria: false });
const kBoldIfOurs = { signal: "datum.ours ? 'bold' : 'normal'" };

const mark = (type, name, data, enter, update, more) => ({
  type,
  name,
  from: { data },
  encode: { enter, update },
  ...more,
});

function symbols(name, data, theme, { ours, others }, update, more) {
  const look = {
    shape: { field: "shape" },
    fill: { field: "colour" },
    ...fixed({ stroke: theme.panel, strokeWidth: 1 }),
  };
  const size = { signal: `datum.ours ? ${ours} : ${others}` };
  return mark(
    "symbol",
    name,
    data,
    { ...look, size, zindex: { signal: "datum.ours ? 1 : 0" }, ...kSays, ...more },
    update,
  );
}

// Texts beside the marks `points`, each where it covers neither a mark nor another text, or else left out; the first in
// the data come first.
function labels_beside_points(enter, transform) {
  const options = { type: "label", size: { signal: "[width, height]" }, ...transform };
  return mark(
    "text",
    "labels",
    "points",
    { text: { signal: "datum.datum.label" }, ...kSilent, ...enter },
    {},
    {
      interactive: false,
      transform: [options],
    },
  );
}

function base(theme, height, description) {
  const fonts = { labelFont: theme.font, titleFont: theme.font, labelFontSize: 11, titleFontSize: 11 };
  const colours = { labelColor: theme.soft, titleColor: theme.soft, gridColor: theme.grid };
  return {
    $schema: "https://vega.github.io/schema/vega/v6.json", // a name; nothing is fetched
    description,
    height,
    padding: 2,
    autosize: { type: "fit-x", contains: "padding" },
    config: {
      axis: { ...fonts, ...colours, titleFontWeight: "normal", domain: false, ticks: false, labelPadding: 5 },
      text: { font: theme.font, fontSize: 11, fill: theme.ink },
    },
  };
}

const bottom_axis = (title, values) => ({
  orient: "bottom",
  scale: "x",
  grid: true,
  values,
  format: ",~r",
  title,
  labelOverlap: true,
});

// What every point carries: its look and what it says.
const point = (row, look, what) => ({ name: `${row.engine} ${row.configuration}`, ...look, ours: row.ours, what });

// ---- the charts: (rows of a panel, theme, look of an engine, context) to a specification, or null if there is nothing

// Marks on a logarithmic memory axis that all panels share; the floors, being limits, are lines.
function memory_chart(rows, theme, look, context) {
  const has_both = (row) => !row.floor && row[context.memory] > 0 && row.rate > 0;
  const values = rows.filter(has_both).map((row) => {
    const memory = row[context.memory] / kMiB;
    const rate = row.rate / 1e6;
    const label = row.ours ? row.configuration : row.engine;
    return { ...point(row, look(row.engine), `${figure(rate)} M rows/s, ${figure(memory)} MiB`), memory, rate, label };
  });
  if (!values.length) return null;
  // Ours are labelled first, then the fastest of each peer.
  values.sort((a, b) => b.ours - a.ours || b.rate - a.rate);
  const seen = new Set();
  for (const value of values) {
    if (!value.ours && seen.has(value.label)) value.label = "";
    seen.add(value.label);
  }
  const limits = rows
    .filter((row) => row.floor && row.rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .map((row, i) => ({
      name: row.engine,
      rate: row.rate / 1e6,
      first: !i,
      what: `${figure(row.rate / 1e6)} M rows/s`,
    }));
  const ticks = doublings(
    ...bounds(
      context.rows.filter(has_both).map((row) => row[context.memory] / kMiB),
      1,
    ),
  );
  const top = 1.05 * Math.max(...[...values, ...limits].map((value) => value.rate));
  const dashed = fixed({ x: 0, stroke: theme.floor, strokeDash: [5, 4], strokeWidth: 1.25 });
  return {
    ...base(
      theme,
      context.alone ? 420 : 290,
      `Throughput against ${context.memory_name}, ${values.length} configurations`,
    ),
    data: [
      { name: "values", values },
      { name: "limits", values: limits },
    ],
    scales: [
      { name: "x", type: "log", base: 2, domain: [ticks[0], ticks[ticks.length - 1]], range: "width" },
      { name: "y", type: "linear", zero: true, nice: true, domain: [0, top], range: "height" },
    ],
    axes: [
      bottom_axis(`${context.memory_name} (MiB, logarithmic)`, ticks),
      { orient: "left", scale: "y", grid: true, tickCount: 5, title: "throughput (M rows/s)" },
    ],
    marks: [
      mark("rule", "floors", "limits", { ...dashed, y: at("y", "rate"), ...kSays }, { x2: { signal: "width" } }),
      mark(
        "text",
        "floor_names",
        "limits",
        { text: { field: "name" }, ...fixed({ fill: theme.floor }) },
        {
          x: { signal: "datum.first ? width : 0" },
          align: { signal: "datum.first ? 'right' : 'left'" },
          y: at("y", "rate"),
          dy: { signal: "datum.first ? -4 : 4" },
          baseline: { signal: "datum.first ? 'bottom' : 'top'" },
        },
      ),
      symbols("points", "values", theme, { ours: 130, others: 95 }, { x: at("x", "memory"), y: at("y", "rate") }),
      labels_beside_points(
        { fill: { signal: "datum.datum.colour" }, fontWeight: { signal: "datum.datum.ours ? 'bold' : 'normal'" } },
        {
          offset: [3],
          anchor: ["right", "left", "top", "bottom", "top-right", "top-left", "bottom-right", "bottom-left"],
          avoidMarks: limits.length ? ["floors", "floor_names"] : [], // Vega stumbles over a mark without items
        },
      ),
    ],
  };
}

// Rows of names with marks on a logarithmic axis: the form of the ratio and the latency charts. Each of `values` has a
// name, min, median, max and maybe rounds; with rounds the median is a line among their dots, and 1 is marked.
// `all` are the spreads of all panels, which share one axis.
function strip_chart(values, theme, context, { description, title, all, scale = 1, with_rounds = false }) {
  if (!values.length) return null;
  const ends = all.flatMap((spread) => [spread.min * scale, spread.max * scale]);
  const domain = bounds(with_rounds ? [...ends, 1] : ends, 1.06);
  const ratios = values.flatMap((value) =>
    (value.rounds || []).map((ratio, i) => ({ ...value, ratio, what: `round ${i + 1}: ${figure(ratio)}` })),
  );
  const across = { x: at("x", "median"), y: at("y", "name", { band: 0.05 }), y2: at("y", "name", { band: 0.95 }) };
  const coloured = { stroke: { field: "colour" } };
  const marks_of_rounds = [
    mark(
      "rule",
      "one",
      "line_of_one",
      fixed({ stroke: theme.ink, strokeWidth: 1.25, y: 0, description: "the line of 1" }),
      {
        x: at("x", "at"),
        y2: { signal: "height" },
      },
    ),
    symbols(
      "rounds",
      "ratios",
      theme,
      { ours: 42, others: 36 },
      { x: at("x", "ratio"), y: kMiddle },
      fixed({ opacity: 0.8 }),
    ),
    mark("rule", "medians", "values", { ...coloured, ...fixed({ strokeWidth: 3 }), ...kSays }, across),
  ];
  const medians = symbols("medians", "values", theme, { ours: 75, others: 60 }, { x: at("x", "median"), y: kMiddle });
  const is_ours = "indexof(ours, datum.value) >= 0";
  const names = {
    fill: { signal: `${is_ours} ? '${theme.ours}' : '${theme.ink}'` },
    fontWeight: { signal: `${is_ours} ? 'bold' : 'normal'` },
  };
  return {
    ...base(theme, 18 * values.length, description),
    data: [
      { name: "values", values },
      { name: "ratios", values: ratios },
      { name: "line_of_one", values: [{ at: 1 }] },
    ],
    signals: [{ name: "ours", value: values.filter((value) => value.ours).map((value) => value.name) }],
    scales: [
      { name: "x", type: "log", domain, range: "width" },
      { name: "y", type: "band", domain: values.map((value) => value.name), range: "height" },
    ],
    axes: [
      bottom_axis(title, round_ticks(...domain)),
      {
        orient: "left",
        scale: "y",
        labelLimit: Math.min(230, 0.45 * context.width),
        encode: { labels: { update: names } },
      },
    ],
    marks: [
      mark(
        "rule",
        "guides",
        "values",
        { ...fixed({ stroke: theme.grid, x: 0 }), ...kSilent },
        { x2: { signal: "width" }, y: kMiddle },
      ),
      mark(
        "rule",
        "ranges",
        "values",
        { ...coloured, ...fixed({ strokeWidth: 1.5, opacity: 0.55 }), ...kSilent },
        {
          x: at("x", "min"),
          x2: at("x", "max"),
          y: kMiddle,
        },
      ),
      ...(with_rounds ? marks_of_rounds : [medians]),
      mark(
        "text",
        "figures",
        "values",
        {
          text: { field: "label" },
          fill: { field: "colour" },
          fontWeight: kBoldIfOurs,
          ...fixed({ baseline: "middle" }),
          ...kSilent,
        },
        { x: { signal: "width + 8" }, y: kMiddle },
      ),
    ],
  };
}

// `order` is 1 where a small ratio is good, -1 where a large one is.
function ratio_chart(field, title, description, order) {
  const has_ratio = (row) => !row.floor && row[field];
  return (rows, theme, look, context) => {
    const values = rows.filter(has_ratio).map((row) => ({
      ...point(row, look(row.engine), `median ${range(row[field], 1, "")}`),
      ...row[field],
      label: row[field].median.toFixed(2),
    }));
    values.sort((a, b) => order * (a.median - b.median));
    return strip_chart(values, theme, context, {
      description: `${description}, ${values.length} configurations`,
      title,
      all: context.rows.filter(has_ratio).map((row) => row[field]),
      with_rounds: true,
    });
  };
}

function first_chart(rows, theme, look, context) {
  const values = rows
    .filter((row) => row.first)
    .map((row) => ({
      ...point(row, look(row.engine), range(row.first, 1e3, "ms")),
      min: row.first.min * 1e3,
      median: row.first.median * 1e3,
      max: row.first.max * 1e3,
      label: figure(row.first.median * 1e3),
    }));
  values.sort((a, b) => a.median - b.median);
  return strip_chart(values, theme, context, {
    description: `Time to the first batch, ${values.length} configurations`,
    title: "time to the first batch (ms, logarithmic)",
    all: context.rows.map((row) => row.first).filter(Boolean),
    scale: 1e3,
  });
}

function size_chart(rows, theme, look) {
  if (!rows.length) return null;
  const values = rows.map((row) => ({
    ...point(row, look(row.engine), `${row.set}, ${figure(row.bytes / 1e6)} MB: ${range(row.seconds, 1, "s")}`),
    bytes: row.bytes / 1e6,
    seconds: row.seconds.median,
    line: JSON.stringify([row.engine, row.series]),
    label: row.ours ? row.set : "",
  }));
  values.sort((a, b) => b.ours - a.ours || a.bytes - b.bytes);
  const sizes = bounds(
    values.map((value) => value.bytes),
    1.2,
  );
  const times = bounds(
    values.map((value) => value.seconds),
    1.15,
  );
  const place = { x: at("x", "bytes"), y: at("y", "seconds") };
  const width = { strokeWidth: { signal: "datum.ours ? 2.5 : 1" }, opacity: { signal: "datum.ours ? 1 : 0.6" } };
  const line = mark("line", "line_of_engine", "line", { stroke: { field: "colour" }, ...width, ...kSilent }, place);
  return {
    ...base(theme, 320, `Time against size, ${values.length} marks`),
    data: [{ name: "values", values }],
    scales: [
      { name: "x", type: "log", domain: sizes, range: "width" },
      { name: "y", type: "log", domain: times, range: "height" },
    ],
    axes: [
      bottom_axis("size of the table as Arrow buffers (MB, logarithmic)", round_ticks(...sizes)),
      { ...bottom_axis("time (s, logarithmic)", round_ticks(...times)), orient: "left", scale: "y" },
    ],
    marks: [
      {
        type: "group",
        name: "lines",
        from: { facet: { name: "line", data: "values", groupby: "line" } },
        marks: [line],
      },
      symbols("points", "values", theme, { ours: 130, others: 80 }, place),
      labels_beside_points(fixed({ fill: theme.ours, fontWeight: "bold" }), {
        offset: [4],
        anchor: ["bottom", "bottom-right", "bottom-left", "right", "left", "top"],
      }),
    ],
  };
}

const kPeerRatio = ["best peer's time / own time (logarithmic)", "Ratio to the best peer in each round"];
const kFloorRatio = ["own time / floor's time (logarithmic)", "Ratio to the floor in each round"];
const kBlock = ["set", "codec", "case", "threads"];

// Section of the page, what it draws of the data, and what makes a panel.
const kCharts = [
  { section: "memory", data: "rows", by: kBlock, draw: memory_chart },
  { section: "peer", data: "rows", by: kBlock, draw: ratio_chart("peer", ...kPeerRatio, -1) },
  { section: "over", data: "rows", by: kBlock, draw: ratio_chart("over", ...kFloorRatio, 1) },
  { section: "first", data: "rows", by: kBlock, draw: first_chart },
  { section: "size", data: "sizes", by: ["codec", "case", "threads"], draw: size_chart },
];
