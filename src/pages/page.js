'use strict';

// What every page here shares: the data that it shows, small helpers, and two pictures with a line
// between them.

const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);

// An element with its class and children; strings become text, never markup.
function make(tag, name, ...children) {
  const e = document.createElement(tag);
  if (name) e.className = name;
  e.append(...children);
  return e;
}

// Two pictures, one over the other, and a slider for where the one over it ends. Returns a function
// that sets the place, in per cent.
function slider(stage, wipe) {
  const move = at => {
    wipe.value = at;
    stage.style.setProperty('--at', `${wipe.value}%`);
  };
  const drag = e => {
    const box = stage.getBoundingClientRect();
    move(Math.round(100 * (e.clientX - box.left) / box.width));
  };
  wipe.addEventListener('input', () => move(wipe.value));
  stage.addEventListener('pointerdown', e => {
    stage.setPointerCapture(e.pointerId);
    drag(e);
  });
  stage.addEventListener('pointermove', e => {
    if (stage.hasPointerCapture(e.pointerId)) drag(e);
  });
  return move;
}
