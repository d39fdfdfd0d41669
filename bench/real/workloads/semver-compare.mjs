import { createRequire } from 'node:module'

const semver = createRequire(`${process.cwd()}/`)('./index.js')
const versions = Array.from(
  { length: 2000 },
  (_, at) => new semver.SemVer(`${at % 3}.${(at * 7) % 20}.${(at * 31) % 97}`),
)
let answer = 0
for (let round = 0; round < 90; round++) {
  const sorted = versions.toSorted((a, b) => a.compare(b))
  answer = (answer * 31 + sorted[round].patch) >>> 0
}
console.log(JSON.stringify({ answer }))
