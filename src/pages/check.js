const STATES = {pass: 'passed', warn: 'warning', fail: 'failed', error: 'error', skip: 'skipped'};
const VIEWS = {
  reference: 'reference', result: 'result',
  difference: 'difference, amplified', colours: 'difference, false colours',
};

// --- small helpers -----------------------------------------------------------------------------

// Figures arrive as numbers, or as "inf" and "nan" where JSON has none.
function show(x) {
  return typeof x === 'number' ? String(Number(x.toPrecision(6))) : String(x);
}

function seconds(x) {
  return x < 1 ? `${(1000 * x).toFixed(x < 0.01 ? 2 : 0)} ms` : `${x.toFixed(2)} s`;
}

function table(head, rows) {
  const t = make('table', head ? 'grid' : '');
  if (head) t.append(make('tr', '', ...head.map(h => make('th', '', h))));
  for (const row of rows) {
    const cells = row.map((v, i) => make(i || head ? 'td' : 'th', '', v));
    t.append(make('tr', '', ...cells));
  }
  return t;
}

function block(title, ...content) {
  return make('div', '', make('h2', '', title), ...content);
}

// --- facts -------------------------------------------------------------------------------------

function worstPixel(part) {
  if (!part || !part.worst || !(part.max > 0 || part.max === 'inf')) return [];
  const rows = part.channels.map(c => [
    c.name, show(c.worst_b), show(c.worst_a), show(c.worst_a - c.worst_b),
  ]);
  return [block(`Worst pixel: x ${part.worst.x}, y ${part.worst.y}`,
    table(['channel', 'reference', 'result', 'difference'], rows))];
}

function comparison(part, reference) {
  if (!part) return [];
  if (part.differs) return [block('Comparison', part.differs)];
  return [block('Comparison', table(null, [
    ['reference', reference], ['largest difference', show(part.max)], ['mean', show(part.mean)],
    ['RMS', show(part.rms)], ['peak SNR', show(part.psnr)],
    ['pixels over the limit', `${part.failed} of ${part.pixels} over ${show(part.fail)}`],
    ['pixels to warn of', String(part.warned)],
  ]))];
}

function energy(list) {
  if (!list) return [];
  const rows = list.map(e => [
    e.channel, make('span', e.ok ? '' : 'bad', show(e.ratio)), `${show(e.least)} to ${show(e.most)}`,
  ]);
  return [block('Light kept', table(['channel', 'of the input', 'allowed'], rows))];
}

function verify(v) {
  if (!v) return [];
  return [block('Recomputed in double', table(null, [
    ['pixels', String(v.pixels)], ['beyond the tolerance', String(v.broken)],
    ['largest error', `${show(v.worst.error)}, channel ${v.worst.channel}`],
    ['at', `x ${v.worst.x}, y ${v.worst.y}`], ['is', show(v.worst.is)],
    ['should be', show(v.worst.should_be)],
  ]))];
}

function timings(c) {
  const rows = Object.entries(c.seconds).map(([k, s]) => [k, seconds(s)]);
  if (c.times && c.plan) {
    rows.push(['upload', seconds(c.times.upload)]);
    c.times.passes.forEach((s, i) => rows.push([`pass ${c.plan.passes[i]}`, seconds(s)]));
    rows.push(['download', seconds(c.times.download)], ['on the device', seconds(c.times.total)]);
  }
  return [block('Timings', table(null, rows))];
}

function made(c) {
  const rows = [['input', c.input], ['kernel', c.kernel]];
  if (c.device) rows.push(['device', `${c.device.name} (${c.device.class}) ${c.device.driver}`]);
  for (const [k, v] of Object.entries(c.origin || {})) rows.push([`reference's ${k}`, v]);
  return [block('Made of', table(null, rows))];
}

// Counts of differences per half decade, on a logarithmic scale.
function histogram(pictures, part) {
  const h = pictures && pictures.histogram;
  if (!h) return [];
  const svgNS = 'http://www.w3.org/2000/svg', W = 420, H = 130, base = 110;
  const draw = (tag, attributes, text) => {
    const e = document.createElementNS(svgNS, tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    svg.append(e);
    return e;
  };
  const svg = document.createElementNS(svgNS, 'svg');
  svg.setAttribute('viewBox', `0 0 ${W} ${H}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'histogram of the differences');
  const step = W / h.bins.length, most = Math.log10(1 + Math.max(...h.bins, 1));
  h.bins.forEach((n, i) => {
    const tall = n ? Math.max(2, (base - 8) * Math.log10(1 + n) / most) : 0;
    const from = h.from + i / h.per_decade;
    const bar = draw('rect', {x: i * step + 1, y: base - tall, width: step - 2, height: tall});
    bar.append(Object.assign(document.createElementNS(svgNS, 'title'),
      {textContent: `${n} values from 1e${from} to 1e${from + 1 / h.per_decade}`}));
    if (i % (2 * h.per_decade) === 0) draw('text', {x: i * step, y: H - 4}, `1e${from}`);
  });
  draw('line', {x1: 0, x2: W, y1: base, y2: base});
  const fail = part && part.fail;
  if (typeof fail === 'number' && fail > 0) {
    const x = Math.min(Math.max((Math.log10(fail) - h.from) * h.per_decade * step, 0), W);
    draw('line', {class: 'limit', x1: x, x2: x, y1: 0, y2: base});
    draw('text', {class: 'limit', x: x + 3, y: 10}, 'fail');
  }
  return [block('Histogram of the differences', svg,
    make('p', 'note', `${h.equal} values are equal; heights are logarithmic`))];
}

// --- pictures ----------------------------------------------------------------------------------

function viewer(root, pictures, part) {
  const at = q => root.querySelector(q);
  const stage = at('.stage'), wipe = at('.wipe'), left = at('.left'), right = at('.right');
  const names = Object.keys(VIEWS).filter(v => pictures && pictures[v]);
  if (names.length < 2) {
    const thumbnail = Object.assign(make('img', 'thumbnail'), {src: pictures && pictures.result});
    at('.viewer').replaceWith(...(names.length ? [thumbnail] : []));
    return;
  }
  for (const select of [left, right])
    for (const v of names) {
      const gain = v === 'difference' ? ` ${show(pictures.gain)} times` : '';
      select.append(new Option(VIEWS[v] + gain, v));
    }
  left.value = names[0];
  right.value = names.includes('difference') ? 'difference' : names[names.length - 1];

  const choose = () => {
    at('.over').src = pictures[left.value];
    at('.over').alt = VIEWS[left.value];
    at('.under').src = pictures[right.value];
    at('.under').alt = VIEWS[right.value];
    at('.scale').hidden = left.value !== 'colours' && right.value !== 'colours';
  };
  left.addEventListener('change', choose);
  right.addEventListener('change', choose);
  slider(stage, wipe);

  at('.viewer').style.setProperty('--wide', pictures.box[2]);
  if (pictures.scale) {
    at('.bar').style.background = `linear-gradient(90deg, ${pictures.scale.join(', ')})`;
    at('.low').textContent = show(pictures.low);
    at('.high').textContent = show(pictures.high);
  }
  if (part && part.worst && part.max > 0) {
    const [x0, y0, w, h] = pictures.box, ring = at('.ring');
    ring.hidden = false;
    ring.style.left = `${100 * (part.worst.x - x0 + 0.5) / w}%`;
    ring.style.top = `${100 * (part.worst.y - y0 + 0.5) / h}%`;
  }
  choose();
}

// --- cases -------------------------------------------------------------------------------------

// A case is filled when it is opened for the first time: a suite may have hundreds of pictures.
function fill(root, c) {
  const part = c.parts && c.parts[c.worst_part];
  viewer(root, c.pictures, part);
  const plan = c.plan_words ? [block('Plan', make('pre', '', c.plan_words))] : [];
  if (plan[0]) plan[0].className = 'whole';
  const notes = c.notes.length ? [block('Notes', ...c.notes.map(n => make('p', 'note', n)))] : [];
  root.querySelector('.facts').append(
    ...worstPixel(part), ...histogram(c.pictures, part), ...comparison(part, c.reference),
    ...energy(c.energy), ...verify(c.verify), ...timings(c), ...made(c), ...notes, ...plan);
}

function build(c) {
  const root = byId('case').content.firstElementChild.cloneNode(true);
  const part = c.parts && c.parts[c.worst_part];
  root.classList.add(c.state);
  root.dataset.state = c.state;
  root.dataset.name = c.name;
  root.querySelector('.state').textContent = STATES[c.state] + (c.blessed ? ', blessed' : '');
  root.querySelector('.title').textContent = c.name;
  root.querySelector('.figure').textContent = [
    c.device ? c.device.class : '', part && part.max !== undefined ? `largest ${show(part.max)}` : '',
    seconds(c.seconds.load + c.seconds.bloom + c.seconds.check),
  ].filter(Boolean).join(' · ');
  root.querySelector('.why').append(...c.why.map(w => make('li', '', w)));
  let filled = false;
  root.addEventListener('toggle', () => {
    if (root.open && !filled) fill(root, c);
    filled = filled || root.open;
  });
  const few = data.cases.length <= 6; // then there is nothing to look for
  root.open = c.state === 'fail' || c.state === 'error' || (few && c.state !== 'skip');
  return root;
}

// --- filters and keys --------------------------------------------------------------------------

function filter() {
  const wanted = byId('name').value.trim().toLowerCase();
  const states = new Set([...byId('states').querySelectorAll(':checked')].map(b => b.value));
  let shown = 0;
  for (const e of byId('cases').children) {
    e.hidden = !states.has(e.dataset.state) || !e.dataset.name.toLowerCase().includes(wanted);
    shown += !e.hidden;
  }
  byId('shown').textContent = `${shown} of ${data.cases.length} shown`;
}

function step(by) {
  const all = [...document.querySelectorAll('.case:not([hidden]) > summary')];
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
  if (next) next.focus();
}

function key(e) {
  const typing = e.target.matches('input[type=search], select');
  if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
  const act = {'/': () => byId('name').focus(), j: () => step(1), k: () => step(-1)}[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

function start() {
  byId('suite').textContent = `fftbloom check ${data.suite}`;
  document.title = `${data.exit_status ? 'failed: ' : ''}${data.suite}`;
  byId('summary').textContent =
    `${data.cases.length} cases in ${seconds(data.seconds)}, exit status ${data.exit_status}, ${data.program}`;
  byId('complaint').hidden = !data.complaint;
  byId('complaint').textContent = data.complaint || '';
  for (const [state, word] of Object.entries(STATES)) {
    if (!data.counts[state]) continue;
    const box = Object.assign(document.createElement('input'),
      {type: 'checkbox', value: state, checked: true});
    byId('states').append(make('label', '', box, ` ${word} ${data.counts[state]}`));
  }
  byId('cases').append(...data.cases.map(build));
  byId('filters').addEventListener('input', filter);
  byId('filters').addEventListener('submit', e => e.preventDefault());
  document.addEventListener('keydown', key);
  filter();
}

start();
