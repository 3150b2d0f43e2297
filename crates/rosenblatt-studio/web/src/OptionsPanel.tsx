// The learner and its settings, from the library's own declarations.
import { signal } from "@preact/signals";
import { type Slot, choose, compare, setCompare, slots } from "./store";
import type { Parameter } from "./types";

const explained = signal<string | null>(null);
const active = signal(0);

/** Those that most people change. */
const FIRST = ["learner", "order", "readout", "kernel", "embed", "hidden", "gradient", "c", "pa", "r", "epochs", "ties", "learning-rate", "seed"];

function Control({ slot, parameter }: { slot: Slot; parameter: Parameter }) {
  const { name, value, choices, proposed } = parameter;
  const id = `option-${slot.index}-${name}`;
  const set = (text: string) => void choose(slot, name, text.trim());
  const changed = value !== parameter.default && name !== "learner";
  let control;
  if (choices && parameter.form === "") {
    const refused = choices.find((c) => c.value === "true")?.refused;
    control = <input id={id} type="checkbox" checked={value === "true"} disabled={Boolean(refused) && value !== "true"} onChange={(e) => set(String(e.currentTarget.checked))} />;
  } else if (choices) {
    control = (
      <select id={id} value={value} onChange={(e) => set(e.currentTarget.value)}>
        {choices.map((c) => <option value={c.value} disabled={c.refused !== null && c.value !== value} title={c.refused ?? undefined}>{c.value}</option>)}
      </select>
    );
  } else {
    control = (
      <>
        <input id={id} type="text" value={value} list={proposed ? `${id}-list` : undefined} autocomplete="off" spellcheck={false}
          onChange={(e) => set(e.currentTarget.value)} />
        {proposed && <datalist id={`${id}-list`}>{proposed.map((p) => <option value={p} />)}</datalist>}
      </>
    );
  }
  const open = explained.value === id;
  return (
    <div class={`option ${changed ? "changed" : ""}`}>
      <label for={id}>{name}</label>
      {control}
      <button type="button" class="help" aria-expanded={open} aria-label={`What ${name} means`} onClick={() => (explained.value = open ? null : id)}>?</button>
      {open && <p class="note">{parameter.help} Default: {parameter.default}.</p>}
    </div>
  );
}

export function Options({ slot }: { slot: Slot }) {
  const form = slot.form.value;
  if (!form) return null;
  const rank = (p: Parameter) => (FIRST.includes(p.name) ? FIRST.indexOf(p.name) : 99);
  const sorted = [...form.parameters].sort((a, b) => rank(a) - rank(b));
  const isFirst = (p: Parameter) => rank(p) < 99 || p.value !== p.default;
  return (
    <>
      {sorted.filter(isFirst).map((p) => <Control key={p.name} slot={slot} parameter={p} />)}
      <details>
        <summary>More settings</summary>
        {sorted.filter((p) => !isFirst(p)).map((p) => <Control key={p.name} slot={slot} parameter={p} />)}
      </details>
      {!form.traced && <p class="note">This learner has no visits with an update each: its passes are shown.</p>}
    </>
  );
}

export function OptionsPanel() {
  const both = compare.value;
  const slot = slots[both ? active.value : 0];
  return (
    <section aria-labelledby="options-heading">
      <h2 id="options-heading">Learner</h2>
      <label class="check">
        <input type="checkbox" checked={both} id="compare" onChange={(e) => void setCompare(e.currentTarget.checked)} />
        Compare two settings
      </label>
      {both && (
        <div class="tabs" role="group" aria-label="Which setting">
          {slots.map((s, i) => <button type="button" aria-pressed={active.value === i} onClick={() => (active.value = i)}>Setting {i + 1}: {s.given.value.learner}</button>)}
        </div>
      )}
      <Options slot={slot} />
      {slot.error.value && <p class="error" role="alert">{slot.error.value}</p>}
    </section>
  );
}
