import { createRequire } from 'node:module'

const SemVer = createRequire(`${process.cwd()}/`)('./classes/semver.js')
const versions = Array.from({ length: 300 }, (_, at) => new SemVer(`1.0.0+build.${at % 37}.${at}`))
let answer = 0
for (let round = 0; round < 8; round++) {
  for (const a of versions) for (const b of versions) answer += a.compareBuild(b) * (round + 1)
}
console.log(JSON.stringify({ answer }))
