const loaded = await import(`${process.cwd()}/src/earcut.js`)
const earcut = loaded.default?.default ?? loaded.default ?? loaded.earcut
const points = []
for (let at = 0; at < 3000; at++) {
  const radius = 1000 + 300 * Math.sin(at * 0.37) + 150 * Math.sin(at * 1.91)
  const angle = (at * 2 * Math.PI) / 3000
  points.push(radius * Math.cos(angle), radius * Math.sin(angle))
}
for (let at = 0; at < 200; at++) {
  const angle = (-at * 2 * Math.PI) / 200
  points.push(300 * Math.cos(angle), 300 * Math.sin(angle))
}
let answer = 0
for (let round = 0; round < 120; round++) answer += earcut(points, [3000]).length
console.log(JSON.stringify({ answer }))
