// What a visit did, and how the run fares: arithmetic, counts, weights, margins, curves.
import type { ComponentChildren } from "preact";
import { count, counted, percent, short, vector } from "./format";
import { type Slot, data, k, needsField, provedBound, showReadout, showRegions, refresh } from "./store";
import { colour, isDark, theme } from "./theme";
import type { Curve, Detail, Facts, Step, Terms } from "./types";

const signed = (x: number, first: boolean) => `${x < 0 ? "− " : first ? "" : "+ "}${short(Math.abs(x))}`;

function Sum({ terms, score, name, kernel }: { terms: Terms; score: number; name: string; kernel: boolean }) {
  if (terms.terms.length === 0) return <p class="sum">{name}: no row was corrected yet, so the score is <b>{short(score)}</b></p>;
  return (
    <p class="sum">
      {name && <b>{name}: </b>}
      <span class="grey">{kernel ? "Σ α·K" : "w·x"} = </span>
      {terms.terms.map(([of, w, x], i) => (
        <>
          {i > 0 && " + "}
          <span class="term" title={of}><span class="factor">{w < 0 ? `(${short(w)})` : short(w)}</span>·<span class="factor">{x < 0 ? `(${short(x)})` : short(x)}</span>
          <sub>{of}</sub></span>
        </>
      ))}
      {terms.others > 0 && <span> {signed(terms.others_sum, false)} <sub>{counted(terms.others, "other")}</sub></span>}
      {" = "}<b>{short(score, 6)}</b>
    </p>
  );
}

function Visit({ step, facts }: { step: Step; facts: Facts }) {
  const classes = data.value?.classes ?? [];
  if (step.k === 0) return <p>Before the first {facts.traced ? "visit" : "pass"}{step.after ? <>: weights <code>{vector(step.after)}</code></> : "."}</p>;
  if (!facts.traced) {
    return (
      <>
        <p>After pass <b>{count(step.pass)}</b>{step.loss !== null && step.loss !== undefined && <>: loss <b>{short(step.loss)}</b> a row</>}</p>
        {step.after && <p>weights <code>{vector(step.after)}</code></p>}
      </>
    );
  }
  const two = classes.length === 2 && facts.planes.length === 1;
  const y = two ? (step.label === 1 ? 1 : -1) : null;
  const scores = step.scores ?? [];
  const verdict = step.correct ? "no update" : step.mistake ? "a mistake: update" : "margin too small: update";
  return (
    <>
      <p>
        Row <b>{count(step.row)}</b>, class <b>{step.class}</b>{y !== null && <> (y = {y > 0 ? "+1" : "−1"})</>}
      </p>
      {(step.planes ?? []).map((terms, d) => <Sum terms={terms} score={scores[d]} name={facts.planes[d] ?? ""} kernel={facts.kernel !== null} />)}
      {scores.length > 4 && <p class="note">and {scores.length - 4} more scores</p>}
      <p class={step.correct ? "verdict good" : "verdict bad"}>
        {y !== null && <span>y·s = {short(y * scores[0], 6)}: </span>}
        {verdict}
      </p>
      {step.correct ? <p>weights stay <code>{vector(step.after)}</code></p> : (
        <table class="change">
          <tbody>
            <tr><th scope="row">before</th><td><code>{vector(step.before)}</code></td></tr>
            <tr><th scope="row">change</th><td><code>{vector(step.after?.map((w, i) => w - (step.before?.[i] ?? 0)))}</code></td></tr>
            <tr><th scope="row">after</th><td><code>{vector(step.after)}</code></td></tr>
          </tbody>
        </table>
      )}
    </>
  );
}

export function StepPanel({ slot, title }: { slot: Slot; title: string }) {
  const [step, facts] = [slot.step.value, slot.facts.value];
  return (
    <section class="step" aria-label={title}>
      <h2>{title}{step && step.k > 0 && facts?.traced ? ` ${count(step.k)}, pass ${count(step.pass)}` : ""}</h2>
      {step && facts ? <Visit step={step} facts={facts} /> : <p class="note">Set points, generate data or drop a file; then press Play.</p>}
      {facts?.over && step?.k === facts.length && facts.reason && <p class="end" role="status">{facts.failed ? facts.reason : `The run ended: ${facts.reason}.`}</p>}
    </section>
  );
}

function Chart({ label, children, height = 90 }: { label: string; children: ComponentChildren; height?: number }) {
  void theme.value;
  return <svg class="chart" viewBox={`0 0 300 ${height}`} role="img" aria-label={label} preserveAspectRatio="none">{children}</svg>;
}

function Mistakes({ curve, bound, facts, at }: { curve: Curve; bound: number | null; facts: Facts; at: number }) {
  const last = curve.counts.at(-1);
  if (!last || last[0] === 0) return null;
  const near = bound !== null && bound <= 4 * Math.max(last[1], 1);
  const top = Math.max(last[1], last[2], near ? bound : 0, 1);
  const x = (v: number) => (v / last[0]) * 300;
  const y = (v: number) => 86 - (v / top) * 80;
  const path = (i: 1 | 2) => curve.counts.map((c, n) => `${n ? "L" : "M"}${x(c[0]).toFixed(1)} ${y(c[i]).toFixed(1)}`).join("");
  return (
    <figure>
      <figcaption>Mistakes over visits{bound !== null && <>, bound {count(bound)}{near ? " (dashed)" : " (above the picture)"}</>}</figcaption>
      <Chart label={`Mistakes over visits: ${last[1]} in ${last[0]} visits${bound !== null ? `, at most ${bound} by the theorem` : ""}`}>
        {near && <line class="bound" x1={0} x2={300} y1={y(bound)} y2={y(bound)} />}
        {facts.mistakes !== facts.updates && <path class="second" d={path(2)} />}
        <path class="curve" d={path(1)} />
        <line class="now" x1={x(at)} x2={x(at)} y1={0} y2={90} />
      </Chart>
    </figure>
  );
}

function Losses({ curve, pass, passes }: { curve: Curve; pass: number; passes: number }) {
  const told = curve.losses.filter((l) => Number.isFinite(l[1]));
  if (told.length < 2) return null;
  const top = Math.max(...told.map((l) => l[1])) || 1;
  const x = (v: number) => ((v - 1) / Math.max(passes - 1, 1)) * 300;
  const d = told.map((l, n) => `${n ? "L" : "M"}${x(l[0]).toFixed(1)} ${(86 - (l[1] / top) * 80).toFixed(1)}`).join("");
  return (
    <figure>
      <figcaption>Mean {curve.loss} by pass, {short(told[0][1])} to {short(told.at(-1)![1])}</figcaption>
      <Chart label={`Mean ${curve.loss} by pass, from ${short(told[0][1])} to ${short(told.at(-1)![1])}`}>
        <path class="curve" d={d} />
        {pass > 0 && <line class="now" x1={x(pass)} x2={x(pass)} y1={0} y2={90} />}
      </Chart>
    </figure>
  );
}

function Margins({ detail }: { detail: Detail }) {
  const { from, width, counts, smallest, wrong, on_boundary } = detail.margins;
  const top = Math.max(...counts, 1);
  const bin = 300 / counts.length;
  const zero = (-from / width) * bin;
  const told = `${counted(wrong, "row")} on the wrong side, ${count(on_boundary)} on the boundary, smallest margin ${short(smallest)}`;
  return (
    <figure>
      <figcaption>Margins y·s of {counted(detail.rows, "row")}: {told}</figcaption>
      <Chart label={`Margins: ${told}`} height={70}>
        {counts.map((n, i) => <rect class={from + (i + 0.5) * width < 0 ? "bad" : "good"} x={i * bin + 0.5} width={bin - 1} y={66 - (n / top) * 62} height={(n / top) * 62} />)}
        <line class="zero" x1={zero} x2={zero} y1={0} y2={70} />
      </Chart>
    </figure>
  );
}

function Weights({ step, facts }: { step: Step; facts: Facts }) {
  const all = step.after ?? [];
  const each = facts.planes.length ? all.length / facts.planes.length : all.length;
  const most = 12;
  if (!all.length || each !== Math.floor(each)) return null;
  const kernel = facts.kernel !== null;
  let shown = all.slice(0, each).map((w, j) => [facts.weights[j] ?? (each - 1 === facts.weights.length || !facts.traced ? (j === 0 ? "bias" : (data.value?.names[j - 1] ?? `w${j}`)) : `w${j + 1}`), w] as [string, number]);
  const left = shown.length - most;
  if (left > 0) shown = [...shown].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, most);
  const top = Math.max(...shown.map(([, w]) => Math.abs(w)), 1e-300);
  return (
    <figure>
      <figcaption>{kernel ? "How much each row counts (α·y)" : "Weights"}{facts.planes.length > 1 ? ` of ${facts.planes[0]}` : ""}{left > 0 ? `, the ${most} largest of ${count(each)}` : ""}</figcaption>
      <table class="bars">
        <tbody>
          {shown.map(([name, w]) => (
            <tr>
              <th scope="row" title={name}>{name}</th>
              <td class="bar">
                <svg viewBox="-100 0 200 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect x={w < 0 ? (w / top) * 98 : 0} y={1} width={(Math.abs(w) / top) * 98} height={8} fill={colour(w < 0 ? 0 : 1)} />
                  <line x1={0} x2={0} y1={0} y2={10} stroke={isDark() ? "#9aa5b4" : "#69737f"} />
                </svg>
              </td>
              <td class="number">{short(w)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

export function Measures({ slot, title }: { slot: Slot; title: string }) {
  const [facts, step, detail, curve] = [slot.facts.value, slot.step.value, slot.detail.value, slot.curve.value];
  if (!facts || !step) return null;
  // The bound of the theorem speaks of a perceptron from zero, with explicit weights.
  const plain = facts.learner === "perceptron" && facts.embedding === null && Object.keys(slot.given.value).every((name) => !["start", "margin-demand", "bias", "normalise-weights", "class-weight"].includes(name));
  const bound = (plain ? provedBound.value : null) ?? facts.updates_at_most ?? facts.mistakes_at_most;
  const passes = facts.passes;
  return (
    <section class="measures" aria-label={title}>
      <h2>{title}</h2>
      <dl class="counts">
        {facts.traced && <><dt>mistakes</dt><dd>{count(step.mistakes)}</dd></>}
        {facts.traced && <><dt>updates</dt><dd>{count(step.updates)}</dd></>}
        {facts.traced && <><dt>the theorem allows</dt><dd title="(R/γ)², with the margin that was proved or that the final weights show">{bound === null ? "no bound known" : `at most ${count(bound)}`}</dd></>}
        {detail && <><dt>accuracy</dt><dd>{percent(detail.accuracy)}</dd></>}
        {detail?.read_out && facts.readout !== "last" && <><dt>{facts.readout}</dt><dd>{percent(detail.read_out.accuracy)}</dd></>}
        {facts.margin && <><dt>margin found</dt><dd>{short(facts.margin.lower)} to {short(facts.margin.upper)}</dd></>}
        {facts.radius !== null && <><dt>R</dt><dd>{short(facts.radius)}</dd></>}
      </dl>
      {(needsField(slot) || facts.readout !== "last") && (
        <div class="switches">
          <label class="check"><input type="checkbox" checked={showRegions.value} onChange={(e) => { showRegions.value = e.currentTarget.checked; void refresh(); }} /> Regions</label>
          {facts.traced && facts.readout !== "last" && (
            <label class="check"><input type="checkbox" checked={showReadout.value} onChange={(e) => { showReadout.value = e.currentTarget.checked; void refresh(); }} /> Show the read-out ({facts.readout})</label>
          )}
        </div>
      )}
      {detail && <Margins detail={detail} />}
      <Weights step={step} facts={facts} />
      {curve && facts.traced && <Mistakes curve={curve} bound={bound} facts={facts} at={Math.min(k.value, facts.length)} />}
      {curve && <Losses curve={curve} pass={step.pass} passes={passes} />}
    </section>
  );
}
