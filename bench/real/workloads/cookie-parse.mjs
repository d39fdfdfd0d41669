import { createRequire } from 'node:module'

const cookie = createRequire(`${process.cwd()}/`)('./index.js')
const headers = Array.from(
  { length: 50 },
  (_, at) => `session=${at}abc%20def; theme=dark ; language="en"; visits=${at * 17}; last=2024-01-${at}`,
)
let answer = 0
for (let at = 0; at < 250_000; at++) answer += cookie.parse(headers[at % 50]).session.length
console.log(JSON.stringify({ answer }))
