// Checks what the cases expect by TypeScript's compiler and by running the programs.
//
//   cd a folder where `npm install typescript@5.9 react react-dom @types/react @types/react-dom @types/node` was run
//   node check.mjs FOLDER-OF-CASES [--write] [case ...]
//
// Every program must compile, and runs with its functions and calls traced. The calls that are expected must be those
// that the trace saw, with those of the compiler where a trace cannot tell (JSX, decorators, tagged templates); and each
// call that the compiler resolves to a function with a body and a name must have been seen, unless a method overrides it.
// What neither can tell is named in `by_hand` of a case as well.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';

const require = createRequire(path.join(process.cwd(), 'x.js'));
const ts = require('typescript');
const modules = path.join(process.cwd(), 'node_modules');
const [folder, ...rest] = process.argv.slice(2);
const write = rest.includes('--write');
const chosen = rest.filter((each) => !each.startsWith('--'));
const DEFAULT = {
  compilerOptions: { strict: true, target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'] },
};

let failed = 0;
for (const name of fs.readdirSync(folder).sort()) {
  const source = path.join(folder, name);
  if (!fs.existsSync(path.join(source, 'expected.json')) || (chosen.length && !chosen.includes(name))) continue;
  const problems = await check(source, name);
  for (const problem of problems) console.log(`${name}: ${problem}`);
  failed += problems.length;
}
console.log(failed ? `${failed} problems` : 'all agree');
process.exit(failed ? 1 : 0);

async function check(source, name) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`)));
  try {
    fs.cpSync(source, root, { recursive: true });
    linkPackages(root);
    const expectedFile = path.join(source, 'expected.json');
    const expected = JSON.parse(fs.readFileSync(expectedFile, 'utf8'));
    const programs = programsOf(root);
    const problems = programs.flatMap(({ program, files }) => diagnosticsOf(program, files, root));
    const names = namesOf(programs);
    const compiled = programs.flatMap(({ program, files }) => compiledCalls(program, files, root, names));
    const traced = await trace(programs, root, names);
    // What is rendered is called by the library; whose element it is, the compiler knows.
    const rendered = new Set(compiled.filter((call) => call.rendered).map((call) => call.target));
    const seen = new Set([...traced.filter((call) => !rendered.has(call.split(' -> ')[1])), ...compiled.filter((call) => call.untraceable).map((call) => call.text)]);
    for (const call of compiled) {
      if (!seen.has(call.text) && !call.overridden) problems.push(`compiled but not seen: ${call.text}`);
    }
    if (write) {
      expected.calls = [...new Set([...seen, ...(expected.by_hand ?? [])])].sort(byPlace);
      fs.writeFileSync(expectedFile, JSON.stringify(expected, null, 2) + '\n');
      const direct = new Set(compiled.map((call) => call.text));
      for (const call of expected.calls) console.log(`${name}: ${direct.has(call) ? 'direct ' : 'dynamic'} ${call}`);
    } else {
      const wanted = new Set(expected.calls);
      for (const call of expected.by_hand ?? []) seen.add(call);
      for (const call of seen) if (!wanted.has(call)) problems.push(`seen but not expected: ${call}`);
      for (const call of wanted) if (!seen.has(call)) problems.push(`expected but not seen: ${call}`);
    }
    return problems;
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

function byPlace(a, b) {
  const [, file, line] = a.match(/^(.*?):(\d+) /);
  const [, other, otherLine] = b.match(/^(.*?):(\d+) /);
  return file < other ? -1 : file > other ? 1 : line - otherLine || (a < b ? -1 : 1);
}

// Where the packages that a package manager links would be.
function linkPackages(root) {
  fs.mkdirSync(path.join(root, 'node_modules'), { recursive: true });
  for (const each of fs.readdirSync(modules)) {
    if (!each.startsWith('.')) fs.symlinkSync(path.join(modules, each), path.join(root, 'node_modules', each));
  }
  for (const file of filesIn(root).filter((each) => each.endsWith('/package.json'))) {
    const { name } = JSON.parse(fs.readFileSync(file, 'utf8'));
    const link = path.join(root, 'node_modules', name ?? '');
    if (!name || path.dirname(file) === root || fs.existsSync(link)) continue;
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(path.dirname(file), link);
  }
}

function filesIn(root) {
  return fs
    .readdirSync(root, { withFileTypes: true })
    .filter((each) => each.name !== 'node_modules')
    .flatMap((each) => (each.isDirectory() ? filesIn(path.join(root, each.name)) : [path.join(root, each.name)]));
}

// One program for each configuration: a file's is the nearest above it that is for files.
function programsOf(root) {
  const groups = new Map();
  for (const file of filesIn(root).filter((each) => /\.tsx?$/.test(each))) {
    let at = path.dirname(file);
    while (at.length > root.length && !fs.existsSync(path.join(at, 'tsconfig.json'))) at = path.dirname(at);
    groups.set(at, [...(groups.get(at) ?? []), file]);
  }
  return [...groups].map(([at, files]) => {
    const own = path.join(at, 'tsconfig.json');
    const json = fs.existsSync(own) ? ts.readConfigFile(own, ts.sys.readFile).config : DEFAULT;
    const { options } = ts.parseJsonConfigFileContent({ ...json, references: undefined }, ts.sys, at);
    Object.assign(options, { noEmit: true, composite: false, types: ['node'], typeRoots: [path.join(modules, '@types')], skipLibCheck: true });
    delete options.rootDir;
    const host = ts.createCompilerHost(options, true);
    host.resolveModuleNameLiterals = (literals, importer) =>
      literals.map((literal) => ({ resolvedModule: resolved(literal.text, importer, options, host) }));
    return { program: ts.createProgram(files, options, host), files, options, host };
  });
}

// A package whose entry is yet to be built has its source where the build takes it from.
function resolved(name, importer, options, host) {
  const found = ts.resolveModuleName(name, importer, options, host).resolvedModule;
  if (found || name.startsWith('.')) return found;
  for (let at = path.dirname(importer); at !== path.dirname(at); at = path.dirname(at)) {
    const file = path.join(at, 'node_modules', name, 'package.json');
    if (!fs.existsSync(file)) continue;
    const { main } = JSON.parse(fs.readFileSync(file, 'utf8'));
    const built = path.join(fs.realpathSync(path.dirname(file)), main);
    const resolvedFileName = built.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
    return { resolvedFileName, extension: '.ts', isExternalLibraryImport: false };
  }
  return undefined;
}

function diagnosticsOf(program, files, root) {
  return ts
    .getPreEmitDiagnostics(program)
    .filter((each) => each.file && files.includes(each.file.fileName))
    .map((each) => `${path.relative(root, each.file.fileName)}: ${ts.flattenDiagnosticMessageText(each.messageText, ' ')}`);
}

// -- names ----------------------------------------------------------------------------------------

// The own name of a node that a name is made of, else undefined.
function ownName(node) {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (ts.isFunctionDeclaration(node)) return node.name?.text ?? 'default';
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return node.name?.text ?? 'default';
  if (ts.isModuleDeclaration(node) || ts.isEnumDeclaration(node)) return node.name.text;
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node) || ts.isPropertyDeclaration(node)) return textOf(node.name);
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isClassExpression(node)) {
    return givenName(node) ?? node.name?.text;
  }
  if (ts.isObjectLiteralExpression(node)) return givenName(node);
  return undefined;
}

function textOf(name) {
  return ts.isComputedPropertyName(name) ? undefined : name.text;
}

// The name of what it is written for: a variable, a property of an object or of a function.
function givenName(node) {
  let above = node.parent;
  while (ts.isParenthesizedExpression(above) || ts.isAsExpression(above) || ts.isSatisfiesExpression(above)) above = above.parent;
  if (ts.isVariableDeclaration(above) && ts.isIdentifier(above.name)) return above.name.text;
  if (ts.isPropertyAssignment(above)) return textOf(above.name);
  if (ts.isBinaryExpression(above) && ts.isPropertyAccessExpression(above.left)) return above.left.getText();
  return undefined;
}

function fullName(node) {
  const names = [];
  for (let at = node; at; at = at.parent) {
    // An initializer of a field is of the field's name already.
    if (ts.isPropertyDeclaration(at) && names.length && at !== node) {
      if (ts.isFunctionLike(at.initializer ?? at) || !at.initializer) names.push(textOf(at.name));
      continue;
    }
    const own = ownName(at);
    // Of objects in objects, the variable tells.
    if (own && (at === node || !ts.isObjectLiteralExpression(at) || !ts.isPropertyAssignment(at.parent))) names.push(own);
  }
  return names.reverse().join('.');
}

function isNamed(node) {
  if (ts.isPropertyDeclaration(node)) return false;
  if (ownName(node)) return true;
  return (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) && ts.isPropertyDeclaration(node.parent);
}

function isFunction(node) {
  return ts.isFunctionLike(node) && node.body;
}

// The names of all functions, by file and position; followed by the line where several have one name.
function namesOf(programs) {
  const all = [];
  for (const { program, files } of programs) {
    for (const file of files) {
      const source = program.getSourceFile(file);
      const found = [];
      const visit = (node) => {
        if (isFunction(node) && isNamed(node) && !ts.isAccessor(node)) found.push(node);
        ts.forEachChild(node, visit);
      };
      visit(source);
      for (const node of found) {
        const name = calledName(node);
        const twins = found.filter((each) => calledName(each) === name);
        const at = source.getLineAndCharacterOfPosition((node.name ?? node).getStart()).line + 1;
        all.push([`${file}:${node.pos}`, twins.length > 1 ? `${name}@${at}` : name]);
      }
    }
  }
  return new Map(all);
}

function calledName(node) {
  return ts.isPropertyDeclaration(node.parent) ? `${fullName(node.parent)}` : fullName(node);
}

// Whose call it is: the named function around it. A decorator is not in what it decorates.
function callerOf(node) {
  let below = node;
  for (let at = node.parent; at; below = at, at = at.parent) {
    if (isFunction(at) && isNamed(at) && !ts.isDecorator(node) && !ts.isDecorator(below)) return calledName(at);
    if (ts.isDecorator(node)) node = at;
  }
  return '<file>';
}

function nameNodeOf(callee) {
  while (ts.isParenthesizedExpression(callee) || ts.isNonNullExpression(callee)) callee = callee.expression;
  if (ts.isPropertyAccessExpression(callee)) return callee.name;
  if (ts.isElementAccessExpression(callee)) return callee.argumentExpression;
  return callee;
}

function siteOf(node, callee, root) {
  const source = node.getSourceFile();
  if (ts.isDecorator(node) && ts.isCallExpression(callee)) callee = callee.expression;
  const { line } = source.getLineAndCharacterOfPosition(nameNodeOf(callee).getStart());
  return `${path.relative(root, source.fileName)}:${line + 1} ${callerOf(node)}`;
}

// -- by the compiler ------------------------------------------------------------------------------

function compiledCalls(program, files, root, names) {
  const checker = program.getTypeChecker();
  const found = [];
  const overriding = new Set();
  const classes = [];
  const visit = (node) => {
    if (ts.isClassLike(node)) classes.push(node);
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) add(node, node.expression, false);
    else if (ts.isTaggedTemplateExpression(node)) add(node, node.tag, true);
    else if (ts.isDecorator(node)) add(node, node.expression, true);
    else if (ts.isJsxSelfClosingElement(node) || ts.isJsxOpeningElement(node)) add(node, node.tagName, true);
    ts.forEachChild(node, visit);
  };
  const add = (node, callee, untraceable) => {
    let declaration = checker.getResolvedSignature(node)?.declaration;
    if (!declaration) return;
    if (!declaration.body) declaration = implementationOf(checker, declaration);
    const name = declaration && names.get(`${declaration.getSourceFile().fileName}:${declaration.pos}`);
    if (!name) return;
    const target = `${path.relative(root, declaration.getSourceFile().fileName)} ${name}`;
    // Fields and defaults are made before a constructor is entered; a generator is entered later, a handler by a click.
    const late = ts.isConstructorDeclaration(declaration) || declaration.asteriskToken || declaration.getSourceFile().fileName.endsWith('.tsx');
    untraceable ||= Boolean(late);
    const rendered = ts.isJsxSelfClosingElement(node) || ts.isJsxOpeningElement(node);
    found.push({ text: `${siteOf(node, callee, root)} -> ${target}`, target, untraceable, rendered, declaration });
  };
  for (const file of files) visit(program.getSourceFile(file));
  for (const each of classes) {
    const base = each.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    if (!base) continue;
    const type = checker.getTypeAtLocation(base);
    for (const member of each.members) {
      const own = member.name && checker.getPropertyOfType(type, textOf(member.name) ?? '');
      for (const declaration of own?.declarations ?? []) overriding.add(declaration);
    }
  }
  return found.map((call) => ({ ...call, overridden: overriding.has(call.declaration) }));
}

// The function of several overloads that has a body.
function implementationOf(checker, declaration) {
  const symbol = declaration.symbol ?? checker.getSymbolAtLocation(declaration.name);
  return symbol?.declarations?.find((each) => each.body && each.parent === declaration.parent);
}

// -- by running -----------------------------------------------------------------------------------

async function trace(programs, root, names) {
  const calls = new Set();
  let current = null;
  const tracer = {
    site(text) {
      current = text;
      return [];
    },
    done(value) {
      current = null;
      return value;
    },
    enter(name) {
      if (current && name) calls.add(`${current} -> ${name}`);
      current = null;
    },
    // What is handed over to be called later is called by whoever handed it over.
    later(work) {
      if (typeof work !== 'function') return work;
      const site = current;
      return function (...args) {
        current = site;
        return work.apply(this, args);
      };
    },
  };
  const loaded = new Map();
  const load = (file) => {
    const own = programs.find(({ files }) => files.includes(file));
    if (!own) return require(file);
    if (loaded.has(file)) return loaded.get(file).exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const code = emitted(own.program.getSourceFile(file), root, names);
    const run = vm.runInThisContext(`(function (require, module, exports, __trace) {${code}\n})`, { filename: file });
    const requireFrom = (name) => {
      const found = resolved(name, file, own.options, own.host)?.resolvedFileName;
      const inside = found && programs.some(({ files }) => files.includes(found));
      return inside ? load(found) : require(name);
    };
    run(requireFrom, module, module.exports, tracer);
    return module.exports;
  };
  const originals = { then: Promise.prototype.then, timeout: globalThis.setTimeout, log: console.log, error: console.error };
  const { later } = tracer;
  try {
    console.log = console.error = () => {};
    Promise.prototype.then = function (done, refused) {
      return originals.then.call(this, later(done), later(refused));
    };
    globalThis.setTimeout = (work, ...args) => originals.timeout(later(work), ...args);
    const imported = new Set();
    for (const { files } of programs) for (const file of files) if (/\/(main|app|index)\.tsx?$/.test(file)) imported.add(file);
    for (const file of [...imported].sort((a, b) => /main/.test(b) - /main/.test(a))) load(file);
    await new Promise((done) => originals.timeout(done, 60));
  } finally {
    Promise.prototype.then = originals.then;
    globalThis.setTimeout = originals.timeout;
    Object.assign(console, { log: originals.log, error: originals.error });
  }
  return [...calls];
}

function emitted(source, root, names) {
  const { factory } = ts;
  const traced = (what, text) =>
    factory.createCallExpression(factory.createPropertyAccessExpression(factory.createIdentifier('__trace'), what), undefined, [
      text === undefined ? factory.createNull() : factory.createStringLiteral(text),
    ]);
  const done = (call) =>
    factory.createCallExpression(factory.createPropertyAccessExpression(factory.createIdentifier('__trace'), 'done'), undefined, [call]);
  const before = (context) => (file) => {
    const visit = (node) => {
      const original = ts.getOriginalNode(node);
      const changed = ts.visitEachChild(node, visit, context);
      if (ts.isCallExpression(original) && original.expression.kind !== ts.SyntaxKind.ImportKeyword) {
        const site = factory.createSpreadElement(traced('site', siteOf(original, original.expression, root)));
        const args = [...changed.arguments, site];
        if (ts.isCallChain(changed))
          return factory.updateCallChain(changed, changed.expression, changed.questionDotToken, changed.typeArguments, args);
        const call = factory.updateCallExpression(changed, changed.expression, changed.typeArguments, args);
        return original.expression.kind === ts.SyntaxKind.SuperKeyword ? call : done(call);
      }
      if (ts.isNewExpression(original)) {
        const site = factory.createSpreadElement(traced('site', siteOf(original, original.expression, root)));
        return done(factory.updateNewExpression(changed, changed.expression, changed.typeArguments, [...(changed.arguments ?? []), site]));
      }
      return isFunction(original) ? entered(original, changed) : changed;
    };
    const entered = (original, changed) => {
      const name = names.get(`${source.fileName}:${original.pos}`);
      const enter = factory.createExpressionStatement(
        traced('enter', name && `${path.relative(root, source.fileName)} ${name}`),
      );
      const body = ts.isBlock(changed.body)
        ? factory.updateBlock(changed.body, [enter, ...changed.body.statements])
        : factory.createBlock([enter, factory.createReturnStatement(changed.body)]);
      if (ts.isFunctionDeclaration(changed))
        return factory.updateFunctionDeclaration(changed, changed.modifiers, changed.asteriskToken, changed.name, changed.typeParameters, changed.parameters, changed.type, body);
      if (ts.isMethodDeclaration(changed))
        return factory.updateMethodDeclaration(changed, changed.modifiers, changed.asteriskToken, changed.name, changed.questionToken, changed.typeParameters, changed.parameters, changed.type, body);
      if (ts.isConstructorDeclaration(changed))
        return factory.updateConstructorDeclaration(changed, changed.modifiers, changed.parameters, body);
      if (ts.isGetAccessorDeclaration(changed))
        return factory.updateGetAccessorDeclaration(changed, changed.modifiers, changed.name, changed.parameters, changed.type, body);
      if (ts.isSetAccessorDeclaration(changed))
        return factory.updateSetAccessorDeclaration(changed, changed.modifiers, changed.name, changed.parameters, body);
      if (ts.isArrowFunction(changed))
        return factory.updateArrowFunction(changed, changed.modifiers, changed.typeParameters, changed.parameters, changed.type, changed.equalsGreaterThanToken, body);
      return factory.updateFunctionExpression(changed, changed.modifiers, changed.asteriskToken, changed.name, changed.typeParameters, changed.parameters, changed.type, body);
    };
    return ts.visitNode(file, visit);
  };
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, jsx: ts.JsxEmit.ReactJSX, esModuleInterop: true };
  return transpiled(source, options, before);
}

// The syntax tree of the program itself is printed, so that its positions are those of the names.
function transpiled(source, options, before) {
  const result = ts.transform(source, [before], options);
  const text = ts.createPrinter().printFile(result.transformed[0]);
  return ts.transpileModule(text, { compilerOptions: options, fileName: source.fileName }).outputText;
}
