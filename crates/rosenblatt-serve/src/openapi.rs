//! The description of the interface at `/openapi.json`, with the columns of each model.

use serde_json::{Map, Value, json};

use crate::app::App;
use crate::json::LARGEST;
use crate::model::{Kind, Served};

/// A text that can be a cell.
const TEXT: &str = "^[^\\u0000]*$";

/// The description.
pub fn description(app: &App) -> Value {
    let mut paths = Map::new();
    let mut add = |path: String, item: Value| drop(paths.insert(path, item));
    add(
        "/v2/health/live".into(),
        get("whether the server lives", empty()),
    );
    add(
        "/v2/health/ready".into(),
        get("whether it answers, and learns if it is to", empty()),
    );
    add("/v2".into(), get("what the server is", object()));
    add(
        "/metrics".into(),
        get(
            "metrics for Prometheus",
            content("application/openmetrics-text", json!({"type": "string"})),
        ),
    );
    add("/openapi.json".into(), get("this description", object()));
    add(
        "/".into(),
        get(
            "a page to look at",
            content("text/html", json!({"type": "string"})),
        ),
    );
    for served in app.models.load().values() {
        model(served, &mut add);
    }
    let mut all = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rosenblatt",
            "description": "Predictions, and learning from examples as they come",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "error"],
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                    "error": {"type": "string", "description": "the same as detail"},
                    "row": {"type": "integer", "minimum": 1},
                    "line": {"type": "integer", "minimum": 1},
                    "column": {"type": "integer", "minimum": 1},
                },
            }},
        },
    });
    if app.has_token() {
        all["components"]["securitySchemes"] =
            json!({"token": {"type": "http", "scheme": "bearer"}});
        all["security"] = json!([{"token": []}]);
    }
    all
}

fn content(kind: &str, schema: Value) -> Value {
    json!({"description": "done", "content": {kind: {"schema": schema}}})
}

fn object() -> Value {
    content("application/json", json!({"type": "object"}))
}

fn empty() -> Value {
    json!({"description": "yes"})
}

/// Whatever is wrong is told by a problem document.
fn responses(done: Value) -> Value {
    let problem = content(
        "application/problem+json",
        json!({"$ref": "#/components/schemas/Problem"}),
    );
    json!({"200": done, "default": problem})
}

fn get(summary: &str, done: Value) -> Value {
    json!({"get": {"summary": summary, "responses": responses(done)}})
}

fn post(summary: &str, parameters: &Value, body: Option<Value>, done: Value) -> Value {
    let mut operation = json!({
        "summary": summary,
        "parameters": parameters,
        "responses": responses(done),
    });
    if let Some(body) = body {
        operation["requestBody"] = json!({"required": true, "content": body});
    }
    json!({"post": operation})
}

fn model(served: &Served, add: &mut impl FnMut(String, Value)) {
    let at = format!("/v2/models/{}", served.name);
    add(at.clone(), get("what the model is", object()));
    add(
        format!("{at}/ready"),
        get("whether the model answers", empty()),
    );
    let name = json!({"type": "string", "pattern": "^[A-Za-z0-9~_.:-]{1,128}$"});
    let flag = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "boolean"}});
    let mut asked = vec![flag("scores")];
    let published = served.published.load();
    if published.model.has_probabilities() {
        asked.push(flag("probabilities"));
    }
    if served.learner.is_some() {
        asked.push(json!({"name": "id", "in": "query", "schema": name, "description": "of rows whose labels come later"}));
    }
    let predictions = json!({
        "type": "object",
        "required": ["model_name", "sequence", "labels"],
        "properties": {
            "model_name": {"type": "string"},
            "sequence": {"type": "integer", "minimum": 0},
            "labels": {"type": "array", "items": {"type": "string"}},
            "scores": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
        },
    });
    let text = json!({"schema": {"type": "string"}});
    let done = json!({"description": "a prediction for each row, in order", "content": {
        "application/json": {"schema": predictions},
        "application/x-ndjson": text, "text/csv": text, "text/plain": text,
    }});
    if served.kind != Kind::Images {
        let rows = json!({"application/json": {"schema": rows(served, false)}});
        add(
            format!("{at}/predict"),
            post("a label for each row", &json!(asked), Some(rows), done),
        );
    }
    let tensors = json!({"application/json": {"schema": tensors(served)}});
    add(
        format!("{at}/infer"),
        post(
            "inference as in the Open Inference Protocol",
            &json!([]),
            Some(tensors),
            object(),
        ),
    );
    add(
        format!("{at}/reload"),
        post("read the model's file again", &json!([]), None, object()),
    );
    if served.learner.is_none() {
        return;
    }
    let key = json!([{"name": "Idempotency-Key", "in": "header", "schema": name, "description": "a request with a key is learned once, however often it is sent"}]);
    let learned = content(
        "application/json",
        json!({
            "type": "object",
            "required": ["model_name", "sequence", "learned", "mistakes", "sync", "durable", "repeated", "predicted", "mistake"],
            "properties": {
                "model_name": {"type": "string"},
                "sequence": {"type": "integer", "description": "the number of the last example"},
                "learned": {"type": "integer"},
                "mistakes": {"type": "integer"},
                "sync": {"type": "string"},
                "durable": {"type": "boolean"},
                "repeated": {"type": "boolean"},
                "predicted": {"type": "array", "items": {"type": "string"}},
                "mistake": {"type": "array", "items": {"type": "boolean"}},
            },
        }),
    );
    if served.kind != Kind::Images {
        let examples = json!({"application/json": {"schema": rows(served, true)}});
        add(
            format!("{at}/learn"),
            post(
                "learn labelled rows, in order",
                &key,
                Some(examples),
                learned.clone(),
            ),
        );
    }
    let late = json!({"application/json": {"schema": {
        "type": "object",
        "required": ["id", "label"],
        "properties": {"id": name, "label": {"enum": published.model.classes.names()}},
        "additionalProperties": false,
    }}});
    add(
        format!("{at}/label"),
        post(
            "the label of a row that was predicted with an id",
            &key,
            Some(late),
            learned,
        ),
    );
    add(
        format!("{at}/snapshot"),
        post("save the model as it is", &json!([]), None, object()),
    );
}

/// An array of rows.
fn rows(served: &Served, labelled: bool) -> Value {
    let published = served.published.load();
    let labels = json!({"enum": published.model.classes.names()});
    let number = json!({"type": ["number", "null"], "minimum": -LARGEST, "maximum": LARGEST});
    let row = if let Kind::Sparse { first } = served.kind {
        let last = u64::from(first) + served.features.max(1) as u64 - 1;
        let mut row = json!({
            "type": "object",
            "properties": {first.to_string(): {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}, last.to_string(): {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}},
            "additionalProperties": false,
        });
        if labelled {
            row["properties"]["label"] = labels;
            row["required"] = json!(["label"]);
        }
        row
    } else {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for column in &served.columns {
            let schema = match (column.is_feature, column.is_label && labelled) {
                (true, _) if column.is_number => number.clone(),
                (true, _) => {
                    json!({"type": ["string", "number", "boolean", "null"], "pattern": TEXT, "minimum": -LARGEST, "maximum": LARGEST})
                }
                (false, true) => labels.clone(),
                _ => continue,
            };
            properties.insert(column.name.clone(), schema);
            required.push(column.name.clone());
        }
        json!({"type": "object", "properties": properties, "required": required})
    };
    json!({"type": "array", "items": row, "minItems": 1})
}

/// Tensors of one row.
fn tensors(served: &Served) -> Value {
    let tensor = |name: &str, datatype: &str, shape: Value, items: Value| {
        let n = shape
            .as_array()
            .and_then(|s| s.last())
            .and_then(Value::as_u64)
            .unwrap_or(1);
        json!({
            "type": "object",
            "required": ["name", "datatype", "shape", "data"],
            "properties": {
                "name": {"const": name},
                "datatype": {"const": datatype},
                "shape": {"const": shape},
                "data": {"type": "array", "items": items, "minItems": n, "maxItems": n},
            },
            "additionalProperties": false,
        })
    };
    let number = json!({"type": "number", "minimum": -LARGEST, "maximum": LARGEST});
    let inputs: Vec<Value> = match served.columns.is_empty() {
        true => vec![tensor("input", "FP64", json!([1, served.features]), number)],
        false => (served.columns.iter().filter(|c| c.is_feature))
            .map(|c| match c.is_number {
                true => tensor(&c.name, "FP64", json!([1, 1]), number.clone()),
                false => tensor(
                    &c.name,
                    "BYTES",
                    json!([1, 1]),
                    json!({"type": "string", "pattern": TEXT}),
                ),
            })
            .collect(),
    };
    json!({
        "type": "object",
        "required": ["inputs"],
        "properties": {
            "id": {"type": ["string", "null"]},
            "inputs": {"type": "array", "prefixItems": inputs, "items": false, "minItems": inputs.len()},
        },
        "additionalProperties": false,
    })
}
