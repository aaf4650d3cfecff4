// The environment of an agent's program, created for each run. `emit` is the only way out: it sends one text, whose first
// character is the kind of message (o: stdout, e: stderr, t: lost output, c: tool call, d: denied access, r: result, x: error).
// Built-in functions are captured first, because the program can replace them. Once the program runs, nothing here may
// iterate over an array (by destructuring, spreading or `of`), because the program can replace the iterator too.
(function (emit, settingsText) {
  "use strict";
  const { apply } = Reflect;
  const { defineProperty, getPrototypeOf } = Object;
  const { parse, stringify } = JSON;
  const { min, max, trunc } = Math;
  const [ErrorClass, TypeErrorClass, PromiseClass, StringOf, NumberOf] = [Error, TypeError, Promise, String, Number];
  const [isNaNumber, now] = [Number.isNaN, Date.now];
  const [then, wellFormed, slice, startsWith] = [
    PromiseClass.prototype.then, StringOf.prototype.toWellFormed, StringOf.prototype.slice,
    StringOf.prototype.startsWith,
  ];
  const [mapGet, mapSet, mapDelete, mapForEach] = [
    Map.prototype.get, Map.prototype.set, Map.prototype.delete, Map.prototype.forEach,
  ];
  const [setAdd, setHas] = [WeakSet.prototype.add, WeakSet.prototype.has];
  const compile = globalThis.eval;
  const MemoryErrorClass = globalThis.InternalError;
  const settings = parse(settingsText);
  // Just above the limits of the host, which reports a longer text as truncated or refuses it. Sending all of it would need
  // memory that the program may not have.
  const MAX_LINE = 300000;
  const MAX_MESSAGE = 1000001;

  // -- denied features --------------------------------------------------------------------------------
  const denials = new WeakSet();
  function denial(kind, what, reason) {
    emit("d" + stringify({ __proto__: null, kind, what, reason }));
    const error = new ErrorClass(reason);
    defineProperty(error, "name", { value: kind === "Permission" ? "PermissionError" : "SecurityViolation" });
    apply(setAdd, denials, [error]);
    return error;
  }
  const defineHidden = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  function denyObject(name, kind) {
    defineHidden(name, new Proxy({}, {
      get(_, property) {
        if (typeof property !== "string") return undefined;
        throw denial(kind, name + "." + apply(slice, property, [0, 100]), name + " is not available in the sandbox");
      },
    }));
  }
  function denyClass(name, kind) {
    const closed = function () {
      throw denial(kind, name, name + " is not available in the sandbox");
    };
    defineProperty(closed, "name", { value: name });
    defineHidden(name, closed);
  }
  const modules = settings.modules;
  defineHidden("require", function require(name) {
    let requested = apply(slice, StringOf(name), [0, 200]);
    if (apply(startsWith, requested, ["node:"])) requested = apply(slice, requested, [5]);
    if (settings.can_read_files && (requested === "fs" || requested === "fs/promises")) return files;
    const kind = typeof modules[requested] === "string" ? modules[requested] : "Permission";
    throw denial(kind, "require " + requested, "the module '" + requested + "' is not available in the sandbox");
  });
  defineHidden("fetch", function fetch(address) {
    let requested = "";
    try { requested = apply(slice, StringOf(address), [0, 200]); } catch { /* the address is only logged */ }
    const error = denial("NetworkAccess", "fetch " + requested, "there is no network in the sandbox");
    return new PromiseClass((_, reject) => reject(error));
  });
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource"]) denyClass(name, "NetworkAccess");
  denyObject("process", "ProcessExecution");
  denyObject("Deno", "ProcessExecution");
  denyObject("Bun", "ProcessExecution");
  for (const made of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(made);
    const closed = function () {
      throw denial("MaliciousCode", "Function", "code cannot be created from text in the sandbox");
    };
    defineProperty(closed, "name", { value: made.constructor.name });
    defineProperty(closed, "prototype", { value: prototype });
    if (made.constructor === Function) defineHidden("Function", closed);
    defineProperty(prototype, "constructor", { value: closed, configurable: true });
  }
  defineHidden("eval", function () {
    throw denial("MaliciousCode", "eval", "code cannot be created from text in the sandbox");
  });

  // -- console --------------------------------------------------------------------------------------------
  function format(value) {
    if (typeof value === "string") return value;
    if (value instanceof ErrorClass) return StringOf(value.stack ? value + "\n" + value.stack : value);
    if (typeof value === "object" && value !== null) {
      try {
        const text = stringify(value);
        if (typeof text === "string") return text;
      } catch (error) { // a cycle, a BigInt, or no memory
        if (MemoryErrorClass && error instanceof MemoryErrorClass) emit("t");
      }
    }
    try { return StringOf(value); } catch { return "[object]"; }
  }
  function printer(sign) {
    return function (...values) {
      let line = "";
      for (let i = 0; i < values.length && line.length < MAX_LINE; i++) {
        line += (i ? " " : "") + apply(slice, format(values[i]), [0, MAX_LINE]);
      }
      emit(sign + apply(wellFormed, line, []) + "\n");
    };
  }
  const [out, err] = [printer("o"), printer("e")];
  const noop = function () {};
  defineHidden("console", {
    log: out, info: out, debug: out, dir: out, table: out, error: err, warn: err, trace: err,
    assert(holds, ...values) {
      if (holds) return;
      let line = "Assertion failed:";
      for (let i = 0; i < values.length && line.length < MAX_LINE; i++) {
        line += " " + apply(slice, format(values[i]), [0, MAX_LINE]);
      }
      err(line);
    },
    group: out, groupEnd: noop, time: noop, timeEnd: noop, count: noop, clear: noop,
  });

  // -- timers ---------------------------------------------------------------------------------------------
  const timers = new Map();
  let lastTimer = 0;
  function addTimer(call, delay, repeats, values) {
    if (typeof call !== "function") throw new TypeErrorClass("a timer needs a function");
    const wait = max(repeats ? 1 : 0, min(2 ** 31, isNaNumber(NumberOf(delay)) ? 0 : NumberOf(delay)));
    lastTimer += 1;
    apply(mapSet, timers, [lastTimer, { call, values, due: now() + wait, every: repeats ? wait : null }]);
    return lastTimer;
  }
  function cancelTimer(id) { apply(mapDelete, timers, [id]); }
  defineHidden("setTimeout", (call, delay, ...values) => addTimer(call, delay, false, values));
  defineHidden("setInterval", (call, delay, ...values) => addTimer(call, delay, true, values));
  defineHidden("setImmediate", (call, ...values) => addTimer(call, 0, false, values));
  defineHidden("clearTimeout", cancelTimer);
  defineHidden("clearInterval", cancelTimer);
  defineHidden("clearImmediate", cancelTimer);
  defineHidden("queueMicrotask", (call) => { apply(then, PromiseClass.resolve(), [() => call()]); });
  let nextId = null;
  /** Return the timer that is due first, or null; its id is in `nextId`. */
  function nextTimer() {
    let first = null;
    apply(mapForEach, timers, [(timer, id) => {
      if (first === null || timer.due < first.due) { first = timer; nextId = id; }
    }]);
    return first;
  }
  /** Call the timer that is due, if any. Return the milliseconds until the next one, or "" without timers. */
  function fireTimer() {
    let timer = nextTimer();
    if (timer !== null && timer.due <= now()) {
      if (timer.every === null) cancelTimer(nextId);
      else timer.due = now() + timer.every;
      try { apply(timer.call, undefined, timer.values); } catch (error) { fail(error); return ""; }
      timer = nextTimer();
    }
    return timer === null ? "" : StringOf(max(0, trunc(timer.due - now())));
  }

  // -- tools, and files in the folders that the owner opened -------------------------------------------------
  const calls = new Map();
  let lastCall = 0;
  function call(name, values) {
    return new PromiseClass((resolve, reject) => {
      const text = stringify(values === undefined ? {} : values);
      if (typeof text !== "string") throw new TypeErrorClass(name + " takes an object of arguments");
      lastCall += 1;
      apply(mapSet, calls, [lastCall, { resolve, reject }]);
      emit("c" + lastCall + " " + name + " " + apply(slice, text, [0, MAX_MESSAGE]));
    });
  }
  for (const [family, names] of settings.families) {
    const functions = { __proto__: null };
    for (const name of names) functions[name] = (values) => call(name, values);
    defineHidden(family, Object.freeze(functions));
  }
  const files = Object.freeze({ __proto__: null, readFile: (path) => call("fs.readFile", { __proto__: null, path }) });
  if (settings.can_read_files) defineHidden("fs", files);
  function finishCall(id, succeeded, text) {
    const waiting = apply(mapGet, calls, [id]);
    if (waiting === undefined) return;
    apply(mapDelete, calls, [id]);
    const value = parse(text);
    if (succeeded) { waiting.resolve(value); return; }
    const error = new ErrorClass(value.message);
    defineProperty(error, "name", { value: "ToolError" });
    defineProperty(error, "code", { value: value.code, enumerable: true });
    defineProperty(error, "hint", { value: value.hint, enumerable: true });
    waiting.reject(error);
  }

  // -- the program ------------------------------------------------------------------------------------------
  let ended = false;
  function text(value, length) {
    try { return apply(wellFormed, apply(slice, StringOf(value), [0, length]), []); } catch { return ""; }
  }
  function field(error, name) {
    try { return error !== null && typeof error === "object" ? error[name] : undefined; } catch { return undefined; }
  }
  function fail(error, isSyntax) {
    if (ended) return;
    ended = true;
    const isOurs = typeof error === "object" && error !== null && apply(setHas, denials, [error]);
    const name = text(field(error, "name") ?? "", 100);
    const message = error instanceof ErrorClass ? text(field(error, "message") ?? "", 10000) : text(format(error), 10000);
    const code = text(field(error, "code") ?? "", 100);
    const stack = text(field(error, "stack") ?? "", 4000);
    emit("x" + stringify({ __proto__: null, name, message, code, stack, isRefusal: isOurs, isSyntax: isSyntax === true }));
  }
  function succeed(value) {
    if (ended) return;
    let written;
    try { written = stringify(value); } catch (error) { fail(error); return; }
    if (ended) return;
    ended = true;
    emit("r" + (typeof written === "string" ? apply(slice, written, [0, MAX_MESSAGE]) : ""));
  }
  function start(source) {
    let program;
    try { program = compile(source); } catch (error) { fail(error, true); return; }
    try {
      apply(then, program(), [succeed, (error) => fail(error)]);
    } catch (error) { fail(error); }
  }
  defineHidden("context", settings.context);
  return function (kind, one, two) {
    switch (kind) {
      case "start": start(one); return "";
      case "fire": return fireTimer();
      case "resolve": finishCall(NumberOf(one), true, two); return "";
      case "reject": finishCall(NumberOf(one), false, two); return "";
      default: return "";
    }
  };
})
