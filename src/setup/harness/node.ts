import type { EntryPoint } from '../findings.ts'
import { buildScriptHarness } from './script.ts'
import type { Skeleton, SkeletonRequest } from './skeleton.ts'
import { renderHeadComment, renderWorkloadComment } from './words.ts'

export function buildNodeHarness(of: SkeletonRequest): Skeleton {
  return buildScriptHarness(of, { extension: 'mjs', interpreter: 'node', text: renderNodeSource })
}

function renderNodeSource(command: string, entry: EntryPoint | null): string {
  return `${renderHeadComment('//', command)}
${renderNodeImports(entry)}
${renderWorkloadComment('//', renderNodeExample(entry), entry)}
async function workload(round) {
${renderNodeBody(entry)}
}
// ================================

let answer
let made = 0
/** Milliseconds of that many calls. */
async function took(calls) {
  const start = performance.now()
  for (let call = 0; call < calls; call += 1) answer = await workload((made += 1))
  return performance.now() - start
}

let calls = 1
while ((await took(calls)) < 5) calls *= 2
const times = []
for (let round = 0; round < 15; round += 1) times.push((await took(calls)) / calls)
times.sort((a, b) => a - b)
const output = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
console.log(JSON.stringify({ milliseconds: times[7], output_bytes: output.length }))
`
}

function renderNodeImports(entry: EntryPoint | null): string {
  if (entry?.kind === 'program') return "import { spawnSync } from 'node:child_process'\n"
  if (entry?.kind !== 'module') return ''
  return `const ENTRY = new URL('../${entry.path}', import.meta.url)\n`
}

function renderNodeExample(entry: EntryPoint | null): string {
  return entry?.kind === 'module' ? 'return (await import(ENTRY)).parse(input)' : 'return parse(input)'
}

function renderNodeBody(entry: EntryPoint | null): string {
  if (entry?.kind === 'module')
    return "  return Object.keys(await import(`${ENTRY}?round=${round}`)).concat('loaded')"
  if (entry?.kind === 'program') {
    const [, ...args] = entry.command.split(' ')
    const list = args.map(each => `'${each}'`).join(', ')
    return `  const { stdout, stderr, error } = spawnSync(process.execPath, [${list}], { encoding: 'utf8', timeout: 10_000 })
  if (error) throw error
  return stdout + stderr`
  }
  return "  return Array.from({ length: 10_000 }, (_, index) => (index * 7919 + round) % 10_007).sort((a, b) => a - b).join(' ')"
}
