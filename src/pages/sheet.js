
// The sheet: `at` is the kernel that is shown, -1 for none, and `strength` its place in the list.
// It opens on what most people want: a modern lens at half strength, where there is one.
let at = Math.max(data.kernels.findIndex(k => k.name === 'lens-night'), data.kernels.length ? 0 : -1);
let strength = data.strengths.indexOf(0.5);
const per_cent = a => `${Math.round(100 * a)} %`;

function show() {
  const k = data.kernels[at];
  byId('bloomed').src = k ? k.pictures[strength] : data.plain;
  byId('bloomed').alt = k ? `the frame under the kernel ${k.name}` : 'the frame';
  byId('side').textContent = k ? `${k.name}, ${per_cent(data.strengths[strength])}` : 'no bloom';
  byId('name').textContent = k ? k.name : 'no bloom';
  byId('about').textContent = k ? k.about : `${data.frame} as it is`;
  byId('command').textContent = k ? k.commands[strength] : '';
  document.querySelector('.command').hidden = !k;
  byId('copy').textContent = 'Copy';
  document.querySelectorAll('.look').forEach((e, i) => e.setAttribute('aria-pressed', i === at + 1));
  document.querySelectorAll('#strengths input').forEach((e, i) => { e.checked = i === strength; });
}

function choose(i) {
  at = Math.min(Math.max(i, -1), data.kernels.length - 1);
  show();
  document.querySelectorAll('.look')[at + 1].scrollIntoView({block: 'nearest'});
}

function strengthen(i) {
  if (i < 0 || i >= data.strengths.length) return;
  strength = i;
  document.querySelectorAll('.look img').forEach((e, n) => {
    if (n) e.src = data.kernels[n - 1].pictures[strength];
  });
  show();
}

async function copy() {
  const words = byId('command').textContent;
  try {
    await navigator.clipboard.writeText(words);
  } catch { // pages that come from a file may have no clipboard in some browsers
    const range = document.createRange();
    range.selectNodeContents(byId('command'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand('copy');
  }
  byId('copy').textContent = 'Copied';
}

function look(name, picture, i) {
  const img = Object.assign(make('img', ''), {src: picture, alt: '', loading: 'lazy'});
  const b = make('button', 'look', img, make('span', '', name));
  b.type = 'button';
  b.dataset.name = name;
  b.addEventListener('click', () => choose(i));
  return b;
}

function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const by = {ArrowLeft: -1, ArrowRight: 1}[e.key];
  if (e.key === ' ' && !e.target.matches('button')) byId('stage').classList.toggle('held', e.type === 'keydown');
  else if (e.type === 'keyup') return;
  else if (by && !e.target.matches('input')) choose(at + by);
  else if (e.key >= '1' && e.key <= '9') strengthen(Number(e.key) - 1);
  else if (e.key === 'c') copy();
  else return;
  e.preventDefault();
}

const [wide, tall] = data.size;
document.documentElement.style.setProperty('--ratio', wide / tall);
document.title = `${data.frame}: ${data.kernels.length} kernels`;
byId('plain').src = data.plain;
byId('note').textContent = `${data.frame} at ${wide} x ${tall} pixels, the kernels scaled with it.`;
byId('looks').append(look('no bloom', data.plain, -1),
  ...data.kernels.map((k, i) => look(k.name, k.pictures[strength], i)));
data.strengths.forEach((a, i) => {
  const box = Object.assign(make('input', ''), {type: 'radio', name: 'strength', value: i});
  box.addEventListener('change', () => strengthen(i));
  byId('strengths').append(make('label', '', box, per_cent(a)));
});
slider(byId('stage'), byId('wipe'));
byId('copy').addEventListener('click', copy);
document.addEventListener('keydown', key);
document.addEventListener('keyup', key);
show();
