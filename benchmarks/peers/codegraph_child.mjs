// Runs codegraph's library: JSON requests on stdin, JSON answers on stdout.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

console.log = console.error // stdout must contain only answers
const [library, root] = process.argv.slice(2)
const { CodeGraph } = createRequire(import.meta.url)(`${library}/dist/index.js`)
let graph

const handlers = {
  async index() {
    graph = await CodeGraph.init(root, { index: true })
    return {}
  },
  async sync() {
    await graph.sync()
    return {}
  },
  search({ query, limit }) {
    const found = graph.searchNodes(query, { limit })
    return { found: found.map(({ node }) => [node.filePath, node.startLine, node.endLine]) }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  const answer = await handlers[request.command](request)
  const { user, system } = process.cpuUsage()
  process.stdout.write(JSON.stringify({ ...answer, cpu: (user + system) / 1e6 }) + '\n')
}
graph?.close()
