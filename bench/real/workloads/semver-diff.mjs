import { createRequire } from 'node:module'

const diff = createRequire(`${process.cwd()}/`)('./functions/diff.js')
const kinds = new Map()
for (let at = 0; at < 150_000; at++) {
  const kind = diff(`1.${at % 5}.${at % 11}`, `1.${at % 3}.${at % 7}`)
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
}
const answer = [...kinds.values()].reduce((sum, count, at) => sum + count * (at + 1), 0)
console.log(JSON.stringify({ answer }))
