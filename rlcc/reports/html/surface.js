"use strict";
// Teacher, student and their difference. The teacher comes as frames, the student as its integer forest.
const rlcc = {data: JSON.parse(document.getElementById("data").textContent)};

rlcc.sums = (forest, state) => {
  const list = value => Array.isArray(value) ? value : [value];
  const total = list(forest.bias).slice();
  const above = (feature, threshold) => state[forest.features[feature]] > threshold;
  for (const tree of forest.trees) {
    let leaf;
    if (tree.splits) {
      leaf = list(tree.leaves[tree.splits.reduce((at, [f, t], bit) => at + (above(f, t) ? 2 ** bit : 0), 0)]);
    } else {
      let node = tree.nodes[0];
      while (!node.leaf) node = tree.nodes[above(node[0], node[1]) ? node[2] : node[3]];
      leaf = node.leaf;
    }
    leaf.forEach((value, output) => { total[output] += value; });
  }
  return total;
};

// What the student decides in a state, in integers. Every value lies within a double's exact integers.
rlcc.decide = state => {
  const {forest, after} = rlcc.data.surface, sums = rlcc.sums(forest, state), values = [];
  const operators = {
    CONST: (imm) => imm, TREES: (imm) => sums[imm], ADD: (imm, a, b) => a + b, SUB: (imm, a, b) => a - b,
    MUL: (imm, a, b) => a * b, SHL: (imm, a) => a * 2 ** imm, SHR: (imm, a) => Math.floor(a / 2 ** imm),
    MUL_SHR: (imm, a, b) => Math.floor(a * b / 2 ** imm),
    MIN: (imm, a, b) => Math.min(a, b), MAX: (imm, a, b) => Math.max(a, b), GT: (imm, a, b) => +(a > b),
    EQ: (imm, a, b) => +(a === b), SELECT: (imm, a, b, c) => a ? b : c,
    TABLE: (imm, a) => after.tables[imm][Math.min(a, after.tables[imm].length - 1)],
  };
  for (const [operator, args, imm] of after.nodes) values.push(operators[operator](imm, ...args.map(n => values[n])));
  return after.results.map(n => values[n]);
};

// Between colours of a list; a value from 0 to 1.
rlcc.colour = (list, share) => {
  const at = Math.min(Math.max(share, 0), 1) * (list.length - 1), low = Math.min(Math.floor(at), list.length - 2);
  const channel = (colour, place) => parseInt(colour.slice(1 + 2 * place, 3 + 2 * place), 16);
  return [0, 1, 2].map(c => Math.round(channel(list[low], c) + (channel(list[low + 1], c) - channel(list[low], c)) * (at - low)));
};
rlcc.colours = {
  rate: ["#67001f", "#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3", "#2166ac", "#053061"],
  level: ["#00204d", "#31446b", "#666970", "#958f78", "#cbba69", "#ffea46"],
  apart: ["#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788", "#2d004b"],
};

rlcc.element = (name, attributes, ...children) => {
  const svg = ["svg", "g", "text", "line", "rect", "circle", "path", "image", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// Round values on an axis whose tail is long: 0 and powers of ten, up and down.
rlcc.decades = (low, high) => {
  const most = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)))), sizes = [];
  for (let power = most; power > most - 5; power--) sizes.push(10 ** power, 3 * 10 ** (power - 1));
  return [0, ...sizes, ...sizes.map(size => -size)].filter(value => value >= low && value <= high);
};
// Round values within [low, high], about `count` of them.
rlcc.ticks = (low, high, count) => {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999), ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) ticks.push(n * step);
  return ticks;
};
rlcc.text = value => {
  const text = Math.abs(value) >= 1e5 ? value.toExponential(1) : String(+value.toPrecision(4));
  return text.replace("-", "−");
};

rlcc.surface = () => {
  const {data: {surface: s}, element} = rlcc, place = document.getElementById("surface");
  const form = document.getElementById("controls"), readout = document.getElementById("readout");
  const [width, height] = [320, 300], box = {left: 46, top: 26, width: 262, height: 190};
  const [across, up] = s.physical, state = s.base.slice();
  let slider = 0, position = 0, quantity = 0;

  const unpacked = text => {
    const bytes = atob(text), values = new Float64Array(bytes.length / 2), q = s.quantities[quantity];
    for (let n = 0; n < values.length; n++) {
      values[n] = q.low + (bytes.charCodeAt(2 * n) + 256 * bytes.charCodeAt(2 * n + 1)) / 65535 * (q.high - q.low);
    }
    return values;
  };
  const frame = () => {
    const moved = s.sliders[slider], q = s.quantities[quantity];
    s.base.forEach((value, column) => { state[column] = value; });
    if (moved.column >= 0) state[moved.column] = moved.values[position];
    const teacher = unpacked(moved.teacher[position][quantity]), student = new Float64Array(teacher.length);
    let n = 0;
    for (const y of s.grid[1]) {
      for (const x of s.grid[0]) {
        state[s.axes[1]] = y;
        state[s.axes[0]] = x;
        student[n++] = q.origin + q.step * rlcc.decide(state)[quantity];
      }
    }
    return {teacher, student, difference: student.map((value, at) => value - teacher[at])};
  };
  rlcc.frame = frame;

  // Where between the ends of an axis a value lies; cells are even there.
  const share = (axis, value, low, high) => {
    const bend = s.bends[axis], at = v => bend ? Math.asinh((v - bend.centre) / bend.scale) : v;
    return (at(value) - at(low)) / (at(high) - at(low));
  };
  // Ticks that do not touch, the first of them first.
  const ticks = (axis, low, high, pixel, apart) => {
    const kept = [];
    for (const value of s.bends[axis] ? rlcc.decades(low, high) : rlcc.ticks(low, high, 5)) {
      if (kept.every(other => Math.abs(pixel(other) - pixel(value)) >= apart)) kept.push(value);
    }
    return kept;
  };
  const drawn = (name, values, low, high, colours) => {
    const [columns, rows] = [across.length, up.length], canvas = document.createElement("canvas");
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d"), picture = context.createImageData(columns, rows);
    const flip = {x: across[0] > across[columns - 1], y: up[0] > up[rows - 1]};
    for (let y = 0; y < rows; y++) {
      for (let x = 0; x < columns; x++) {
        const to = 4 * ((flip.y ? y : rows - 1 - y) * columns + (flip.x ? columns - 1 - x : x));
        const part = high > low ? (values[y * columns + x] - low) / (high - low) : 0.5;
        picture.data.set([...rlcc.colour(colours, part), 255], to);
      }
    }
    context.putImageData(picture, 0, 0);
    const ends = list => [Math.min(...list), Math.max(...list)];
    const [[x0, x1], [y0, y1]] = [ends(across), ends(up)];
    const px = x => box.left + share(0, x, x0, x1) * box.width, py = y => box.top + (1 - share(1, y, y0, y1)) * box.height;
    const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name});
    const inside = (value, [low, high]) => value > low && value < high;
    svg.append(
      element("text", {x: box.left, y: 16, class: "name"}, name),
      element("image", {x: box.left, y: box.top, width: box.width, height: box.height, preserveAspectRatio: "none", href: canvas.toDataURL()}),
    );
    s.thresholds[0].filter(t => inside(t, [x0, x1])).forEach(t => svg.append(element("line", {class: "border", x1: px(t), x2: px(t), y1: box.top, y2: box.top + box.height})));
    s.thresholds[1].filter(t => inside(t, [y0, y1])).forEach(t => svg.append(element("line", {class: "border", x1: box.left, x2: box.left + box.width, y1: py(t), y2: py(t)})));
    if (name === "teacher") {
      s.dots[0].forEach((x, n) => {
        if (inside(x, [x0, x1]) && inside(s.dots[1][n], [y0, y1])) svg.append(element("circle", {class: "dot", cx: px(x), cy: py(s.dots[1][n]), r: 1.3}));
      });
    }
    svg.append(element("rect", {class: "axis", x: box.left, y: box.top, width: box.width, height: box.height}));
    const bottom = box.top + box.height;
    ticks(0, x0, x1, px, 34).forEach(t => svg.append(element("text", {x: px(t), y: bottom + 15, "text-anchor": "middle"}, rlcc.text(t))));
    ticks(1, y0, y1, py, 16).forEach(t => svg.append(element("text", {x: box.left - 5, y: py(t) + 4, "text-anchor": "end"}, rlcc.text(t))));
    // A long name is set smaller rather than cut.
    const label = (axis, at) => {
      const words = s.columns[s.axes[axis]].words, size = Math.min(12, 250 / (0.56 * words.length));
      return element("text", {...at, "text-anchor": "middle", style: `font-size:${size.toFixed(1)}px`}, words);
    };
    const centre = box.top + box.height / 2;
    svg.append(
      label(0, {x: box.left + box.width / 2, y: bottom + 32}),
      label(1, {x: 12, y: centre, transform: `rotate(-90 12 ${centre})`}),
    );
    for (let n = 0; n < 64; n++) {
      const [r, g, b] = rlcc.colour(colours, n / 63);
      svg.append(element("rect", {x: box.left + n * box.width / 64, y: bottom + 44, width: box.width / 64 + 0.5, height: 9, fill: `rgb(${r},${g},${b})`}));
    }
    [[0, low, "start"], [0.5, (low + high) / 2, "middle"], [1, high, "end"]].forEach(([part, value, anchor]) => {
      svg.append(element("text", {x: box.left + part * box.width, y: bottom + 67, "text-anchor": anchor}, rlcc.text(value)));
    });
    svg.addEventListener("pointermove", event => {
      const bounds = svg.getBoundingClientRect();
      const at = {x: (event.clientX - bounds.left) / bounds.width * width, y: (event.clientY - bounds.top) / bounds.height * height};
      const nearest = (list, pixel, wanted) => list.reduce((best, value, n) => Math.abs(pixel(value) - wanted) < Math.abs(pixel(list[best]) - wanted) ? n : best, 0);
      tell(nearest(across, px, at.x), nearest(up, py, at.y));
    });
    return svg;
  };
  let shown;
  const tell = (x, y) => {
    const n = y * across.length + x, told = rlcc.text;
    const where = [[s.axes[0], across[x], s.grid[0][x]], [s.axes[1], up[y], s.grid[1][y]]]
      .map(([column, value, integer]) => `${s.columns[column].words} ${told(value)} (${s.columns[column].name} = ${integer})`);
    const values = ["teacher", "student", "difference"].map(name => `${name} ${told(shown[name][n])}`);
    readout.textContent = `${where.join(", ")}: ${values.join(", ")}`;
  };
  const draw = () => {
    shown = frame();
    const q = s.quantities[quantity], colours = q.diverges ? rlcc.colours.rate : rlcc.colours.level;
    place.replaceChildren(
      drawn("teacher", shown.teacher, q.low, q.high, colours),
      drawn("student", shown.student, q.low, q.high, colours),
      drawn("difference", shown.difference, -q.apart, q.apart, rlcc.colours.apart),
    );
  };
  rlcc.move = (toSlider, toPosition, toQuantity) => {
    [slider, position, quantity] = [toSlider, toPosition, toQuantity];
    draw();
  };

  const choice = (words, options, chosen) => {
    const select = element("select", {"aria-label": words});
    options.forEach((text, n) => select.append(element("option", {value: n}, text)));
    select.addEventListener("change", () => chosen(+select.value));
    form.append(element("label", {}, words, select));
  };
  if (s.quantities.length > 1) choice("decided", s.quantities.map(q => q.name), n => { quantity = n; draw(); });
  else form.append(element("span", {}, `colour: ${s.quantities[0].name}`));
  if (s.sliders[0].column >= 0) {
    const range = element("input", {type: "range", min: 0, step: 1, "aria-label": "older value"});
    const value = element("output", {});
    const moved = () => {
      position = +range.value;
      value.textContent = rlcc.text(s.sliders[slider].physical[position]);
      draw();
    };
    const reset = n => {
      slider = n;
      const own = s.sliders[n], base = s.base[own.column];
      range.max = own.values.length - 1;
      range.value = own.values.reduce((best, v, at) => Math.abs(v - base) < Math.abs(own.values[best] - base) ? at : best, 0);
      moved();
    };
    if (s.sliders.length > 1) choice("older value", s.sliders.map(one => s.columns[one.column].words), reset);
    else form.append(element("span", {}, s.columns[s.sliders[0].column].words));
    range.addEventListener("input", moved);
    form.append(range, value);
    reset(0);
  } else draw();
  form.hidden = false;
};
if (rlcc.data.surface) rlcc.surface();
