// Questions to the server. It answers; it never calls.
import { signal } from "@preact/signals";

/** What the page says of the server: empty while it answers. */
export const connection = signal("");

/** What went wrong with a question, as the server worded it. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly unknown: boolean,
  ) {
    super(message);
  }
}

type Value = string | number | boolean | null | undefined;

function address(question: string, query: Record<string, Value>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `api/${question}${text ? `?${text}` : ""}`;
}

async function send(question: string, query: Record<string, Value>, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(question, query), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    lost();
    throw new Refused("the server does not answer", 0, false);
  }
  if (response.ok) return response;
  if (response.status === 403) {
    connection.value = "The server was started anew and has another address: open the one it printed.";
    throw new Refused(connection.value, 403, false);
  }
  const told = await response.json().catch(() => ({ error: response.statusText }));
  throw new Refused(told.error ?? response.statusText, response.status, told.unknown === true);
}

export async function ask<T>(question: string, query: Record<string, Value> = {}, signal?: AbortSignal): Promise<T> {
  return (await send(question, query, { signal })).json();
}

export async function post<T>(question: string, query: Record<string, Value> = {}, body: BodyInit | object = ""): Promise<T> {
  const raw = typeof body === "string" || body instanceof Blob;
  return (await send(question, query, { method: "POST", body: raw ? (body as BodyInit) : JSON.stringify(body) })).json();
}

/** Fetches something to be saved, and has the browser save it. */
export async function save(question: string, query: Record<string, Value>): Promise<string> {
  const response = await send(question, query, {});
  const named = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "");
  const name = named?.[1] ?? question;
  offer(await response.blob(), name);
  return name;
}

export function offer(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const returned: (() => void)[] = [];

/** Calls `f` whenever the server is back. */
export function whenBack(f: () => void): void {
  returned.push(f);
}

let waiting = false;

/** The server does not answer: says so, and asks again until it does. */
function lost(): void {
  connection.value = "The server does not answer. The page goes on when it is back.";
  if (waiting) return;
  waiting = true;
  const again = async () => {
    try {
      const response = await fetch("api/about");
      waiting = false;
      if (response.ok) {
        connection.value = "";
        returned.forEach((f) => f());
      } else {
        connection.value = "The server was started anew and has another address: open the one it printed.";
      }
    } catch {
      setTimeout(again, 500);
    }
  };
  setTimeout(again, 500);
}
