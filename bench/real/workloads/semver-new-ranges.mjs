import { createRequire } from 'node:module'

const semver = createRequire(`${process.cwd()}/`)('./index.js')
let answer = 0
for (let at = 0; at < 12_000; at++) {
  const range = new semver.Range(`>=1.${at}.0 <2.0.${at} || ^3.${at}.1`)
  answer += range.test(`1.${at}.7`) ? 1 : 0
}
console.log(JSON.stringify({ answer }))
