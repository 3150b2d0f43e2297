// Can these be separated? And what to take away.
import { signal } from "@preact/signals";
import { save } from "./api";
import { count, counted, short } from "./format";
import { about, check, checkError, checked, compare, data, k, said, slots, view } from "./store";
import { link, linkRefused } from "./link";

export function Ask() {
  const found = checked.value;
  return (
    <section aria-labelledby="ask-heading" class="ask">
      <h2 id="ask-heading">Ask</h2>
      <button type="button" id="check" disabled={!data.value} onClick={() => void check()}>Can these be separated?</button>
      {checkError.value && <p class="error" role="alert">{checkError.value}</p>}
      {found && (
        <div id="verdict" role="status">
          <p class={`verdict-word ${found.verdict}`}>{found.verdict}</p>
          <p>{found.explained}.</p>
          {found.margin && (
            <p>
              Margin {short(found.margin.lower, 6)} lifted{found.plain_margin ? `, ${short(found.plain_margin.lower, 6)} plain` : ""}; R = {short(found.radius)}.
              {" "}{found.updates_at_most !== null && <>A perceptron from zero makes at most {counted(found.updates_at_most, "update")}.</>}
            </p>
          )}
          {found.touching && <p>The widest gap touches rows {found.touching.rows.slice(0, 12).join(", ")}{found.touching.rows.length > 12 ? ", …" : ""}, framed in the picture.</p>}
          {found.balanced.length > 0 && <p>Rows {found.balanced.slice(0, 12).join(", ")}{found.balanced.length > 12 ? ` and ${count(found.balanced.length - 12)} more` : ""} balance each other, which proves it; they are framed in the picture.</p>}
          {found.without_estimate.length > 0 && (
            <details>
              <summary>Logistic regression: {counted(found.without_estimate.length, "coefficient")} without a finite estimate</summary>
              <ul>{found.without_estimate.slice(0, 30).map((c) => <li>{c.name} {c.toward}</li>)}</ul>
            </details>
          )}
          {found.classified && found.without_estimate.length === 0 && <p>The estimates of a logistic regression are finite and unique.</p>}
          {found.certificate
            ? <button type="button" id="certificate" onClick={() => void take("certificate", {})}>Certificate</button>
            : <p class="note">No certificate: {found.no_certificate}</p>}
          <p class="note">Decided in exact arithmetic; the certificate was verified by the independent checker.</p>
          <Command text={found.command} />
        </div>
      )}
    </section>
  );
}

const failed = signal("");

async function take(question: string, query: Record<string, string | number | boolean | undefined>): Promise<void> {
  failed.value = "";
  try {
    const name = await save(question, { page: data.value?.page, ...query });
    said.value = `${name} saved.`;
  } catch (error) {
    failed.value = error instanceof Error ? error.message : String(error);
  }
}

export function Command({ text }: { text: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = "Copied.";
    } catch {
      said.value = "The browser does not allow copying: select the text.";
    }
  };
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy ${text}`}>Copy</button>
    </div>
  );
}

/** The command line that does what the page shows. */
export function Commands() {
  const shown = compare.value ? slots : [slots[0]];
  return (
    <section class="commands" aria-label="Command line">
      {shown.map((slot) => {
        const commands = slot.commands.value;
        if (!commands) return null;
        return (
          <>
            {commands.generate && slot.index === 0 && <Command text={commands.generate} />}
            <Command text={commands.trace ?? commands.train} />
          </>
        );
      })}
    </section>
  );
}

export function Take() {
  const facts = slots[0].facts.value;
  const ready = facts !== null && facts.over && !facts.failed;
  const at = { slot: 0, k: k.value, x: view.value.x, y: view.value.y };
  const straight = facts?.linear && facts.traced && facts.planes.length === 1 && data.value?.features === 2;
  const refused = linkRefused();
  const buttons: [string, string, boolean][] = [
    ["model", "Model (.rbm)", ready],
    ["onnx", "ONNX", ready],
    ["svg", "Picture (SVG)", facts !== null],
    ["png", "Picture (PNG)", facts !== null && (about.value?.png ?? false)],
    ["animation", "Animation (SVG)", Boolean(straight) && ready],
    ["replay", "Replay (HTML)", ready],
    ["csv", "Data (CSV)", data.value !== null],
  ];
  const copyLink = async () => {
    const text = await link();
    history.replaceState(null, "", text);
    try {
      await navigator.clipboard.writeText(location.href);
      said.value = "Link copied.";
    } catch {
      said.value = "The link stands in the address bar.";
    }
  };
  return (
    <section aria-labelledby="take-heading" class="take">
      <h2 id="take-heading">Take away</h2>
      <div class="buttons">
        {buttons.map(([question, text, on]) => (
          <button type="button" id={`take-${question}`} disabled={!on} onClick={() => void take(question, at)}>{text}</button>
        ))}
        <button type="button" id="take-link" disabled={!data.value || refused !== null} onClick={() => void copyLink()}>Link</button>
      </div>
      {refused && data.value && <p class="note">No link: {refused}</p>}
      {about.value && !about.value.png && <p class="note">This build draws no PNG: install it with --features png.</p>}
      {failed.value && <p class="error" role="alert">{failed.value}</p>}
      {slots[0].commands.value && ready && (
        <details>
          <summary>The same model from the command line</summary>
          <Command text={slots[0].commands.value.train} />
        </details>
      )}
    </section>
  );
}
