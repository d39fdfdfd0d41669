import { computeLnTotal, observePair } from '../../src/decide/evidence/observe.ts'
import { type EvidenceState, startEvidence } from '../../src/decide/evidence/state.ts'
import { MIN_EFFECT, weigh } from './our-rule.ts'
import { seeded } from './random.ts'
import { SCENARIOS } from './scenarios.ts'

interface Play {
  label: string
  colour: string
  /** ln E after each pair, and after how many pairs each job ended. */
  path: number[]
  jobs: number[]
  ended: string
}

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [640, 320, 56, 16, 16, 40]
const [LOWEST, HIGHEST] = [0.01, 300]
const MARKS = [0.01, 0.1, 1, 10, 100]
const LEVELS = [
  { at: 20, label: 'screen: 20' },
  { at: 100, label: 'keep: 100' },
]

/** How evidence grows in two single plays on a typical runner: one idea that does nothing, one that gains 3 %. */
export function figure(seed: string): string {
  const plays = [
    play(seed, { label: 'does nothing', colour: '#b5473c', effect: 0 }),
    play(seed, { label: '3 % faster', colour: '#2f6f9f', effect: 0.03 }),
  ]
  const most = Math.max(...plays.map(({ path }) => path.length))
  const x = (pairs: number) => LEFT + ((WIDTH - LEFT - RIGHT) * pairs) / most
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...MARKS.flatMap(mark => gridLine(mark)),
    ...LEVELS.flatMap(({ at, label }) => levelLine(at, label)),
    ...pairMarks(most, x),
    ...plays.flatMap(each => curve(each, x)),
    '</svg>',
  ].join('\n')
}

function play(
  seed: string,
  { label, colour, effect }: { label: string; colour: string; effect: number },
): Play {
  const world = { scenario: SCENARIOS.typical, random: seeded(seed, 'figure', label), byRunner: 0 }
  const { state } = weigh({ world, effect }, {})
  const { jobs, differences } = state
  const ends = jobs.map((_, at) => jobs.slice(0, at + 1).reduce((sum, { pairs }) => sum + pairs, 0))
  const ended = endedText(state)
  return { label, colour, path: pathOf(differences, ends), jobs: ends, ended }
}

function endedText({ decided, given_up }: EvidenceState): string {
  if (decided === null) return given_up === null ? 'not decided' : 'given up'
  if (decided.status === 'keep') return 'kept'
  return decided.reason === 'harm-shown' ? 'worse' : 'no gain'
}

/** The same pairs once more, looked at after each. */
function pathOf(differences: readonly (number | null)[], ends: readonly number[]): number[] {
  let state = startEvidence({ direction: 'minimize', minEffect: MIN_EFFECT, scale: 'linear' })
  return differences.map((difference, at) => {
    const job = ends.findIndex(end => at < end)
    const pair = difference === null ? { base: 0, candidate: null } : { base: difference, candidate: 0 }
    state = observePair(state, { ...pair, job, order: 'base-first' })
    return computeLnTotal(state)
  })
}

function height(evidence: number): number {
  const share = Math.log(evidence / LOWEST) / Math.log(HIGHEST / LOWEST)
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.min(1, Math.max(0, share))
}

function number(value: number): string {
  return value.toFixed(1)
}

function gridLine(mark: number): string[] {
  const y = number(height(mark))
  return [
    `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
    `<text x="${LEFT - 6}" y="${y}" dy="4" text-anchor="end" fill="#555">${mark}</text>`,
  ]
}

function levelLine(at: number, label: string): string[] {
  const y = number(height(at))
  return [
    `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#333" stroke-dasharray="5 4"/>`,
    `<text x="${LEFT + 6}" y="${y}" dy="-5" fill="#333">${label}</text>`,
  ]
}

function pairMarks(most: number, x: (pairs: number) => number): string[] {
  const every = most > 40 ? 8 : 4
  const y = HEIGHT - BOTTOM + 16
  const marks = Array.from({ length: Math.floor(most / every) + 1 }, (_, at) => at * every)
  return [
    ...marks.map(at => `<text x="${number(x(at))}" y="${y}" text-anchor="middle" fill="#555">${at}</text>`),
    `<text x="${WIDTH - RIGHT}" y="${y + 16}" text-anchor="end" fill="#555">pairs; a dot ends a job</text>`,
  ]
}

function curve({ label, colour, path, jobs, ended }: Play, x: (pairs: number) => number): string[] {
  const points = [0, ...path].map((ln, at) => ({ x: number(x(at)), y: number(height(Math.exp(ln))) }))
  const last = points.at(-1)
  const line = points.map(point => `${point.x},${point.y}`).join(' ')
  const dots = jobs.flatMap(end => {
    const point = points[end]
    return point ? [`<circle cx="${point.x}" cy="${point.y}" r="4" fill="${colour}"/>`] : []
  })
  const side = path.length < 12 ? 'start' : 'end'
  const shift = side === 'start' ? 8 : -8
  return [
    `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...dots,
    `<text x="${last?.x ?? LEFT}" y="${last?.y ?? TOP}" dx="${shift}" dy="${side === 'start' ? 14 : -8}" text-anchor="${side}" fill="${colour}">${label}: ${ended}</text>`,
  ]
}
