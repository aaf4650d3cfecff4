// What an agent's program finds around it, made anew for each run. `tell` is its only way out: one text, of which the
// first sign says what it is. What the program does to the objects of its own world reaches nothing else.
(function (tell, given) {
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
  const settings = parse(given);

  // -- what is not there, and who asked for it --------------------------------------------------------
  const refusals = new WeakSet();
  function refusal(kind, what, because) {
    tell("d" + stringify({ __proto__: null, kind, what, because }));
    const error = new ErrorClass(because);
    defineProperty(error, "name", { value: kind === "Permission" ? "PermissionError" : "SecurityViolation" });
    apply(setAdd, refusals, [error]);
    return error;
  }
  const hidden = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  function closedObject(name, kind) {
    hidden(name, new Proxy({}, {
      get(_, property) {
        if (typeof property !== "string") return undefined;
        throw refusal(kind, name + "." + apply(slice, property, [0, 100]), name + " is not available in the sandbox");
      },
    }));
  }
  function closedClass(name, kind) {
    const closed = function () {
      throw refusal(kind, name, name + " is not available in the sandbox");
    };
    defineProperty(closed, "name", { value: name });
    hidden(name, closed);
  }
  const modules = settings.modules;
  hidden("require", function require(name) {
    let asked = apply(slice, StringOf(name), [0, 200]);
    if (apply(startsWith, asked, ["node:"])) asked = apply(slice, asked, [5]);
    if (settings.reads && (asked === "fs" || asked === "fs/promises")) return files;
    const kind = typeof modules[asked] === "string" ? modules[asked] : "Permission";
    throw refusal(kind, "require " + asked, "the module '" + asked + "' is not available in the sandbox");
  });
  hidden("fetch", function fetch(address) {
    let asked = "";
    try { asked = apply(slice, StringOf(address), [0, 200]); } catch { /* it is only told */ }
    const error = refusal("NetworkAccess", "fetch " + asked, "there is no network in the sandbox");
    return new PromiseClass((_, reject) => reject(error));
  });
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource"]) closedClass(name, "NetworkAccess");
  closedObject("process", "ProcessExecution");
  closedObject("Deno", "ProcessExecution");
  closedObject("Bun", "ProcessExecution");
  for (const made of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(made);
    const closed = function () {
      throw refusal("MaliciousCode", "Function", "code is not made of text in the sandbox");
    };
    defineProperty(closed, "name", { value: made.constructor.name });
    defineProperty(closed, "prototype", { value: prototype });
    if (made.constructor === Function) hidden("Function", closed);
    defineProperty(prototype, "constructor", { value: closed, configurable: true });
  }
  hidden("eval", function () {
    throw refusal("MaliciousCode", "eval", "code is not made of text in the sandbox");
  });

  // -- what is said ---------------------------------------------------------------------------------------
  function shown(value) {
    if (typeof value === "string") return value;
    if (value instanceof ErrorClass) return StringOf(value.stack ? value + "\n" + value.stack : value);
    if (typeof value === "object" && value !== null) {
      try {
        const text = stringify(value);
        if (typeof text === "string") return text;
      } catch { /* a circle, or a number that JSON has not */ }
    }
    try { return StringOf(value); } catch { return "[object]"; }
  }
  function sayer(sign) {
    return function (...values) {
      let line = "";
      for (let i = 0; i < values.length; i++) line += (i ? " " : "") + shown(values[i]);
      tell(sign + apply(wellFormed, line, []) + "\n");
    };
  }
  const [out, err] = [sayer("o"), sayer("e")];
  const silent = function () {};
  hidden("console", {
    log: out, info: out, debug: out, dir: out, table: out, error: err, warn: err, trace: err,
    assert(holds, ...values) { if (!holds) err("Assertion failed:", ...values); },
    group: out, groupEnd: silent, time: silent, timeEnd: silent, count: silent, clear: silent,
  });

  // -- what happens later ---------------------------------------------------------------------------------
  const timers = new Map();
  let lastTimer = 0;
  function later(call, delay, repeats, values) {
    if (typeof call !== "function") throw new TypeErrorClass("a timer needs a function");
    const wait = max(repeats ? 1 : 0, min(2 ** 31, isNaNumber(NumberOf(delay)) ? 0 : NumberOf(delay)));
    lastTimer += 1;
    apply(mapSet, timers, [lastTimer, { call, values, due: now() + wait, every: repeats ? wait : null }]);
    return lastTimer;
  }
  function forget(id) { apply(mapDelete, timers, [id]); }
  hidden("setTimeout", (call, delay, ...values) => later(call, delay, false, values));
  hidden("setInterval", (call, delay, ...values) => later(call, delay, true, values));
  hidden("setImmediate", (call, ...values) => later(call, 0, false, values));
  hidden("clearTimeout", forget);
  hidden("clearInterval", forget);
  hidden("clearImmediate", forget);
  hidden("queueMicrotask", (call) => { apply(then, PromiseClass.resolve(), [() => call()]); });
  function next() {
    let [first, found] = [null, null];
    apply(mapForEach, timers, [(timer, id) => {
      if (first === null || timer.due < first.due) [first, found] = [timer, id];
    }]);
    return [first, found];
  }
  /** Call the timer that is due, if one is; how many milliseconds until the next one, or nothing without any. */
  function fire() {
    let [timer, id] = next();
    if (timer !== null && timer.due <= now()) {
      if (timer.every === null) forget(id);
      else timer.due = now() + timer.every;
      try { apply(timer.call, undefined, timer.values); } catch (error) { fail(error); return ""; }
      [timer] = next();
    }
    return timer === null ? "" : StringOf(max(0, trunc(timer.due - now())));
  }

  // -- tools, and files where the owner opened some ----------------------------------------------------------
  const calls = new Map();
  let lastCall = 0;
  function call(name, values) {
    return new PromiseClass((resolve, reject) => {
      const text = stringify(values === undefined ? {} : values);
      if (typeof text !== "string") throw new TypeErrorClass(name + " takes an object of arguments");
      lastCall += 1;
      apply(mapSet, calls, [lastCall, { resolve, reject }]);
      tell("c" + lastCall + " " + name + " " + text);
    });
  }
  for (const [family, names] of settings.families) {
    const functions = { __proto__: null };
    for (const name of names) functions[name] = (values) => call(name, values);
    hidden(family, Object.freeze(functions));
  }
  const files = Object.freeze({ __proto__: null, readFile: (path) => call("fs.readFile", { __proto__: null, path }) });
  if (settings.reads) hidden("fs", files);
  function settle(id, succeeded, text) {
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
    const isOurs = typeof error === "object" && error !== null && apply(setHas, refusals, [error]);
    const name = text(field(error, "name") ?? "", 100);
    const message = error instanceof ErrorClass ? text(field(error, "message") ?? "", 10000) : text(shown(error), 10000);
    const code = text(field(error, "code") ?? "", 100);
    const stack = text(field(error, "stack") ?? "", 4000);
    tell("x" + stringify({ __proto__: null, name, message, code, stack, isRefusal: isOurs, isSyntax: isSyntax === true }));
  }
  function succeed(value) {
    if (ended) return;
    let written;
    try { written = stringify(value); } catch (error) { fail(error); return; }
    if (ended) return;
    ended = true;
    tell("r" + (typeof written === "string" ? written : ""));
  }
  function start(source) {
    let program;
    try { program = compile(source); } catch (error) { fail(error, true); return; }
    try {
      apply(then, program(), [succeed, (error) => fail(error)]);
    } catch (error) { fail(error); }
  }
  hidden("context", settings.context);
  return function (kind, one, two) {
    switch (kind) {
      case "start": start(one); return "";
      case "fire": return fire();
      case "kept": settle(NumberOf(one), true, two); return "";
      case "refused": settle(NumberOf(one), false, two); return "";
      default: return "";
    }
  };
})
