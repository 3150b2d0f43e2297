// The lessons: what stands on the page, and what the picture beside shows.
import type { Given, Wanted } from "./types";

/** What a scene, or one of its suggestions, sets up. */
export interface Setup {
  data?: Wanted;
  given?: Given;
  beside?: Given | null;
  at?: "begin" | "end" | "update";
  ask?: boolean;
  readout?: boolean;
}

export interface Scene {
  title: string;
  setup: Setup;
  text: string[];
  tries: [string, Setup][];
}

const perceptron: Given = { learner: "perceptron" };

export const SCENES: Scene[] = [
  {
    title: "Learning AND",
    setup: { data: { kind: "and" }, given: perceptron },
    text: [
      "Four points: the corners of a square. Only the corner (1, 1) is in the class +1. The perceptron starts with all weights zero and visits the points one by one, in the order of the file.",
      "At each visit it computes the score: bias plus w·x. If the score has the sign of the class, nothing happens. If not, it adds the point to the weights (class +1) or takes it away (class −1). A score of exactly 0 counts as a mistake.",
      "Step through the first pass with “visit ›” and read the arithmetic beside the picture. The dashed line is the boundary before an update, the solid one after it; the coloured arrow is what the update added to the weight vector.",
      "After some passes a whole pass brings no mistake. The program then sweeps over all points to make sure, and only then says “separated”.",
    ],
    tries: [["One visit", { at: "update" }], ["To the end", { at: "end" }], ["Can it be separated?", { ask: true }]],
  },
  {
    title: "Why XOR fails",
    setup: { data: { kind: "xor" }, given: { learner: "perceptron", epochs: "20" } },
    text: [
      "The same corners, but now opposite corners share a class. No straight line has both corners of one class on one side and both of the other on the other side.",
      "The perceptron does not know that. Its boundary swings from corner to corner: each correction spoils another point, and the mistakes grow without end.",
      "Ask “Can these be separated?” The answer is a proof: rows whose signed sum with positive weights is zero. Were there a separating line, each of them would be strictly on its right side, and so would their sum: but the sum is zero.",
    ],
    tries: [["To the end", { at: "end" }], ["Ask for the proof", { ask: true }]],
  },
  {
    title: "A kernel cures XOR",
    setup: { data: { kind: "xor" }, given: { learner: "kernel", kernel: "quadratic" }, at: "end" },
    text: [
      "The dual perceptron keeps no weights, only a number for each row: how often it was corrected. Its score is a sum over those rows of the count times K(x_j, x).",
      "With K(x, z) = (x·z + 1)² the sum is a polynomial of degree 2 in x: the boundary may be a curve, and the product x1·x2 is among its terms.",
      "Step back and forth with the scrubber: each update adds one row's bump to the field.",
    ],
    tries: [["A linear kernel fails", { given: { learner: "kernel", kernel: "linear", epochs: "20" }, at: "end" }], ["Gaussian bumps", { given: { learner: "kernel", kernel: "rbf:2" }, at: "end" }]],
  },
  {
    title: "An embedding cures XOR",
    setup: { data: { kind: "xor" }, given: { learner: "perceptron", embed: "monomials:2" }, at: "end" },
    text: [
      "What the quadratic kernel does in secret can be done openly: hand the plain perceptron the features x1, x2, x1², x1·x2, x2² and a constant.",
      "In these six coordinates a plane separates the corners. Seen in the two old coordinates, that plane is a curve.",
      "The weights now belong to the new features; compare their arithmetic with that of the kernel.",
    ],
    tries: [["A circle feature", { given: { learner: "perceptron", embed: "circle", epochs: "20" }, at: "end" }], ["Random Fourier features", { given: { learner: "perceptron", embed: "fourier:20,2" }, at: "end" }]],
  },
  {
    title: "A hidden layer cures XOR",
    setup: { data: { kind: "xor" }, given: { learner: "network", hidden: "4" }, at: "end" },
    text: [
      "A network makes its own features: each hidden unit is a soft perceptron, and the output is a perceptron over the hidden units.",
      "It has no single corrections; gradient descent on a loss moves all weights a little at each step. The picture shows the field after each pass.",
      "Drag the scrubber from the left: at first the field is nearly flat, then the hidden units bend it until every corner is on its side.",
    ],
    tries: [["From the beginning", { at: "begin" }], ["Two hidden units", { given: { learner: "network", hidden: "2" }, at: "end" }], ["tanh units", { given: { learner: "network", hidden: "4", activation: "tanh" }, at: "end" }]],
  },
  {
    title: "The bound and the margin",
    setup: { data: { kind: "separable", examples: 60, features: 2, margin: 0.2, seed: 3 }, given: perceptron, at: "end" },
    text: [
      "If some plane has every point at least γ away from it, and no point is longer than R, then the perceptron makes at most (R/γ)² updates, in any order and at any rate.",
      "Beside the picture stand the mistakes made and what the theorem allows, with the margin proved in exact arithmetic.",
      "Make the margin smaller: the bound grows with the square of 1/γ. The mistakes grow too, but stay below it, often far below.",
    ],
    tries: [
      ["Margin 0.05", { data: { kind: "separable", examples: 60, features: 2, margin: 0.05, seed: 3 }, at: "end" }],
      ["Margin 0.01", { data: { kind: "separable", examples: 60, features: 2, margin: 0.01, seed: 3 }, at: "end" }],
      ["Which rows touch the gap?", { ask: true }],
    ],
  },
  {
    title: "Order and ties",
    setup: { data: { kind: "and" }, given: perceptron, beside: { learner: "perceptron", order: "worst" }, at: "end" },
    text: [
      "The theorem holds for every order of visits, but the number of mistakes depends on it. On the left the order of the file, on the right always the row that is worst off.",
      "A score of exactly 0 is a tie. By default a tie is a mistake. With “positive” it predicts the positive class, so only a negative row is wrong. With “correct” and zero weights nothing would ever move, so that choice is not offered.",
      "The final weights differ too: there are many separating lines, and the perceptron stops at the first it finds.",
    ],
    tries: [
      ["Ties positive", { given: { learner: "perceptron", ties: "positive" }, beside: perceptron, at: "end" }],
      ["By class", { given: { learner: "perceptron", order: "by-class" }, beside: { learner: "perceptron", order: "shuffled" }, at: "end" }],
    ],
  },
  {
    title: "Averaging and voting on noisy labels",
    setup: {
      data: { kind: "blobs", examples: 120, spread: 5, noise: 0.1, seed: 1 },
      given: { learner: "perceptron", readout: "averaged", epochs: "10" },
      at: "end",
      readout: true,
    },
    text: [
      "One label in ten is wrong, so no line separates these points, and the running weights jump at every mistake, to the very end.",
      "The mean of all weights hardly moves: mistakes pull it to and fro and cancel. The dotted line is that mean, as it was after each pass; the accuracy of both stands beside the picture.",
      "A vote goes further: every weight vector of the run votes as often as it survived visits.",
    ],
    tries: [
      ["Play it from the start", { at: "begin" }],
      ["Vote instead", { given: { learner: "perceptron", readout: "voted", epochs: "10" }, at: "end", readout: true }],
      ["Pocket", { given: { learner: "perceptron", readout: "pocket", epochs: "10" }, at: "end", readout: true }],
    ],
  },
  {
    title: "The dual, and difficult rows",
    setup: { data: { kind: "separable", examples: 40, features: 2, margin: 0.03, seed: 5 }, given: { learner: "kernel", kernel: "linear", bias: "lifted" }, at: "end" },
    text: [
      "The weight vector is always a sum of corrected rows. The dual perceptron keeps only how often each row was corrected: the same run, the same mistakes, other books.",
      "The bars beside the picture are those counts. Most rows were never corrected. The difficult ones, near the boundary, were corrected again and again.",
      "Switch the learner to the perceptron and look at the number of updates: it is the same.",
    ],
    tries: [["The same run with weights", { given: perceptron, beside: { learner: "kernel", kernel: "linear", bias: "lifted" }, at: "end" }], ["Which rows touch the gap?", { ask: true }]],
  },
  {
    title: "Three classes as cones",
    setup: { data: { kind: "classes", examples: 90, features: 2, classes: 3, margin: 0.1, seed: 1 }, given: { learner: "perceptron", bias: "none" }, at: "end" },
    text: [
      "With three classes there are three weight vectors, and the largest score wins. On a mistake the vector of the true class is pulled towards the row, that of the winner is pushed away.",
      "Without a bias all boundaries pass through the origin, so each class owns a cone: a slice of the circle.",
      "One against the rest trains three planes on their own instead; between them there are places that no plane, or more than one, claims.",
    ],
    tries: [
      ["From the beginning", { at: "begin" }],
      ["One against the rest", { given: { learner: "perceptron", bias: "none", multiclass: "ovr" }, at: "end" }],
      ["Each pair", { given: { learner: "perceptron", bias: "none", multiclass: "ovo" }, at: "end" }],
    ],
  },
  {
    title: "Gradient descent against mistakes",
    setup: {
      data: { kind: "blobs", examples: 80, spread: 3, seed: 4 },
      given: { learner: "linear-unit" },
      beside: perceptron,
      at: "end",
    },
    text: [
      "The linear unit wants its output to be exactly +1 or −1 and descends the mean squared error: every row pulls, also those that are right, and even those that are too right.",
      "The perceptron on the right moves only when it errs, and does not care how far beyond the boundary a row lies.",
      "So descent finds the least squares line whether or not the classes can be separated, and that line need not separate them even where some line does; the perceptron separates wherever it is possible, and never settles where it is not.",
    ],
    tries: [
      ["From the beginning", { at: "begin" }],
      ["Row by row instead of batch", { given: { learner: "linear-unit", gradient: "stochastic" }, beside: perceptron, at: "end" }],
    ],
  },
  {
    title: "Renormalised weights that cycle",
    setup: {
      data: { kind: "separable", examples: 20, features: 2, margin: 0.1, seed: 1 },
      given: { learner: "perceptron", "normalise-weights": "true", epochs: "40" },
      beside: perceptron,
      at: "end",
    },
    text: [
      "Divide the weights by their length after each update, and the theorem no longer holds. Corrections do not grow small against the weights: a step stays as large as before.",
      "These points can be separated (ask!), and the plain perceptron on the right does so. The renormalised one on the left runs in a circle for ever: watch the same updates come back pass after pass.",
      "With a rate small against the margin there is a bound again. Try it.",
    ],
    tries: [
      ["A small rate", { given: { learner: "perceptron", "normalise-weights": "true", "learning-rate": "0.05", epochs: "40" }, beside: perceptron, at: "end" }],
      ["Can these be separated?", { ask: true }],
    ],
  },
  {
    title: "Separable or not, with its proof",
    setup: { data: { kind: "grid" }, given: perceptron, at: "end", ask: true },
    text: [
      "A perceptron that stops has proved that the classes can be separated. One that runs on has proved nothing: it might stop at the next visit.",
      "“Can these be separated?” decides. Separable: here is a plane. Overlapping: here are rows that balance each other. Between the two lies quasi-separable: a plane misclassifies none but has rows of both classes on it.",
      "Each answer comes with a certificate, a small file that anyone can verify in exact arithmetic, with a program that shares no code with this one.",
      "The same answer tells whether a logistic regression has finite estimates: only where the classes overlap.",
    ],
    tries: [
      ["Hulls that touch", { data: { kind: "margin-zero", features: 2 }, given: { learner: "perceptron", epochs: "20" }, ask: true }],
      ["Two classes that overlap", { data: { kind: "grid-middle" }, given: { learner: "perceptron", epochs: "20" }, ask: true }],
      ["One row too many", { data: { kind: "contradiction", examples: 60, features: 2 }, given: { learner: "perceptron", epochs: "20" }, ask: true }],
    ],
  },
];
