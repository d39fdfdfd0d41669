import { createRequire } from 'node:module'

const mustache = createRequire(`${process.cwd()}/`)('./mustache.js')
const rows = Array.from({ length: 500 }, (_, at) => ({ id: at, price: at * 1.5, stock: at % 9 }))
const template = '<table>{{#rows}}<tr><td>{{id}}<td>{{price}}<td>{{stock}}<td>{{id}}{{/rows}}</table>'
let answer = 0
for (let round = 0; round < 700; round++) {
  answer = (answer * 31 + mustache.render(template, { rows }).length) >>> 0
}
console.log(JSON.stringify({ answer }))
