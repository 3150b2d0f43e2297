// A class as it is drawn: its colour and its shape.
import { useEffect, useRef } from "preact/hooks";
import { mark } from "./draw";
import { colour, projector, theme } from "./theme";

export function Swatch({ label }: { label: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const large = projector.value;
  void theme.value;
  useEffect(() => {
    const g = canvas.current!.getContext("2d")!;
    g.setTransform(2, 0, 0, 2, 0, 0);
    g.clearRect(0, 0, 16, 16);
    g.fillStyle = colour(label);
    mark(g, label, 8, 8, 5);
    g.fill();
  });
  const size = large ? 24 : 16;
  return <canvas ref={canvas} width={32} height={32} class="swatch" style={{ width: `${size}px`, height: `${size}px` }} aria-hidden="true" />;
}
