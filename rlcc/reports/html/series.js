// Runs over time: goodput of the teacher's flows, of the student's, and the longest queue of both, zoomed together.
rlcc.series = () => {
  const {data: {series}, element} = rlcc, place = document.getElementById("series");
  const form = document.getElementById("scenarios");
  let chosen = 0, span = null;

  const path = (t, values, x, y) => values.map((value, n) => `${n ? "L" : "M"}${x(t[n]).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const chart = (title, unit, run, lines, most) => {
    const width = Math.max(place.clientWidth, 300) / (title === "longest queue" || place.clientWidth < 740 ? 1 : 2) - 9;
    const height = 230, box = {left: 52, right: width - 10, top: 26, bottom: height - 38};
    const [from, to] = span || [0, run.teacher.t[run.teacher.t.length - 1]];
    const x = t => box.left + (t - from) / (to - from) * (box.right - box.left);
    const y = value => box.bottom - value / most * (box.bottom - box.top);
    const svg = element("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
    const clip = `clip-${title.replace(/\W+/g, "-")}`;
    const mask = document.createElementNS("http://www.w3.org/2000/svg", "clipPath");
    mask.setAttribute("id", clip);
    mask.append(element("rect", {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top}));
    const inside = element("g", {"clip-path": `url(#${clip})`});
    inside.append(element("rect", {class: "window", x: x(run.window[0]), y: box.top, width: x(run.window[1]) - x(run.window[0]), height: box.bottom - box.top}));
    svg.append(mask, inside, element("text", {x: box.left, y: 16, class: "name"}, title));
    rlcc.ticks(0, most, 4).forEach(value => svg.append(
      element("line", {class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value)}),
      element("text", {x: box.left - 6, y: y(value) + 4, "text-anchor": "end"}, rlcc.text(value)),
    ));
    rlcc.ticks(from, to, width < 420 ? 4 : 7).forEach(value => svg.append(
      element("text", {x: x(value), y: box.bottom + 15, "text-anchor": "middle"}, rlcc.text(value)),
    ));
    svg.append(
      element("text", {x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle"}, "time, ms"),
      element("text", {x: 12, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(box.top + box.bottom) / 2})`}, unit),
    );
    const parts = element("g", {"clip-path": `url(#${clip})`});
    lines.forEach(({t, values, style}) => parts.append(element("path", {d: path(t, values, x, y), style})));
    svg.append(parts);

    const time = event => from + (Math.min(Math.max(event.clientX - svg.getBoundingClientRect().left, box.left), box.right) - box.left) / (box.right - box.left) * (to - from);
    let begun = null, band = null;
    svg.addEventListener("pointerdown", event => {
      begun = time(event);
      band = element("rect", {class: "chosen", y: box.top, height: box.bottom - box.top});
      svg.append(band);
    });
    svg.addEventListener("pointermove", event => {
      if (begun === null) return;
      const [a, b] = [begun, time(event)].map(x).sort((one, other) => one - other);
      band.setAttribute("x", a);
      band.setAttribute("width", b - a);
    });
    svg.addEventListener("pointerup", event => {
      if (begun === null) return;
      const ends = [begun, time(event)].sort((one, other) => one - other);
      begun = null;
      band.remove();
      if (ends[1] - ends[0] > (to - from) / 100) { span = ends; draw(); }
    });
    svg.addEventListener("pointerleave", () => { begun = null; if (band) band.remove(); });
    svg.addEventListener("dblclick", () => { span = null; draw(); });
    return element("div", {}, svg);
  };

  const draw = () => {
    const run = series[chosen];
    // The start may spike far above what follows; it is cut rather than all else flattened.
    const settled = (one, values) => values.filter((_, n) => one.t[n] >= run.window[0]);
    const top = lists => Math.max(...lists.map(list => Math.max(...list, 0))) * 1.1 || 1;
    const rates = top(["teacher", "student"].flatMap(who => [...run[who].flows, run[who].mean].map(values => settled(run[who], values))));
    const queues = top(["teacher", "student"].map(who => settled(run[who], run[who].queue)));
    const flows = who => [
      ...run[who].flows.map(values => ({t: run[who].t, values, style: `stroke:var(--${who});stroke-width:1;opacity:.45`})),
      {t: run[who].t, values: run[who].mean, style: "stroke:var(--ink);stroke-width:2"},
    ];
    const queue = ["teacher", "student"].map(who => ({
      t: run[who].t, values: run[who].queue, style: `stroke:var(--${who});stroke-width:1.5${who === "student" ? ";stroke-dasharray:6 3" : ""}`,
    }));
    place.replaceChildren(
      chart("teacher: goodput", "Gb/s per flow", run, flows("teacher"), rates),
      chart("student: goodput", "Gb/s per flow", run, flows("student"), rates),
      chart("longest queue", "KB", run, queue, queues),
    );
    place.lastChild.append(element("p", {}, element("span", {class: "key teacher"}), "teacher", element("span", {class: "key student"}), "student (dashed)"));
  };
  rlcc.zoom = (from, to) => { span = from === undefined ? null : [from, to]; draw(); };
  rlcc.scenario = n => { [chosen, span] = [n, null]; draw(); };

  const select = element("select", {"aria-label": "scenario"});
  series.forEach((run, n) => select.append(element("option", {value: n}, run.scenario)));
  select.addEventListener("change", () => rlcc.scenario(+select.value));
  const all = element("button", {type: "button"}, "reset zoom");
  all.addEventListener("click", () => rlcc.zoom());
  form.append(element("label", {}, "scenario", select), all);
  form.hidden = false;
  let width = place.clientWidth;
  window.addEventListener("resize", () => { if (place.clientWidth !== width) { width = place.clientWidth; draw(); } });
  draw();
};
if (rlcc.data.series.length) rlcc.series();
