import fc from 'fast-check'
import type { Idea, Site } from './plan-site.ts'

export const FILES = {
  'bench/run': 'wc',
  'src/a': 'aaaaaaaa',
  'src/b': 'bbbbbbbb',
  'src/c': 'cccccccc',
  'src/d': 'dddddddd',
}
export const WINNOW = (more = '') => `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
measurement: { command: sh bench/run, probes: off }
gates: [{ name: tests, command: sh bench/test }]
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
name: size
${more}`
const CE = (measurement: string) => `name: size
description: a ce spec
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates: [{ name: bytes, check: '> 1' }]
measurement: { command: sh bench/run, probes: off, ${measurement} }
scope: { mutable: [src/], immutable: [bench/] }
propose: [{ use: patch, dir: ideas }]
`

export const specs = fc.constantFrom(
  WINNOW(),
  WINNOW('execution: { mode: serial }\n'),
  WINNOW('execution: { max_concurrent: 2 }\nmax_runner_up_merges_per_batch: 1\n'),
  WINNOW('stopping: { max_iterations: 2 }\n'),
  WINNOW().replace('name: bytes', 'name: wall_seconds'),
  CE('baseline: fresh, stability: { mode: stable, noise_threshold: 0.5 }'),
  CE('baseline: cached, stability: { mode: repeat, repeat_count: 2, noise_threshold: 0.5 }'),
)
const content = fc.oneof(
  { weight: 6, arbitrary: fc.nat(10).map(length => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom('gate-fails', 'crashes', 'hangs', 'set-up-fails') },
)
const path = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('src/a', 'src/b', 'src/c', 'src/d') },
  { weight: 1, arbitrary: fc.constant('bench/run') },
)
export const ideas: fc.Arbitrary<Idea[]> = fc
  .array(
    fc.record({
      files: fc.dictionary(path, content, { minKeys: 1, maxKeys: 2 }),
      category: fc.constantFrom('loops', 'memory'),
      priority: fc.constantFrom('high', 'medium', 'low'),
    }),
    { minLength: 1, maxLength: 7, size: 'max' },
  )
  .map(made => made.map((idea, index) => ({ ...idea, name: `idea ${index}` })))

const about = fc.nat(6)
/** What may come between two looks; `cut` kills the process before the given action of a plan. */
export const happening = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ what: 'look' } as const) },
  { weight: 4, arbitrary: fc.constant({ what: 'measure' } as const) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('cut' as const), action: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.constant({ what: 'lose' } as const) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('cut-off' as const), after: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('stop' as const), after: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('retry' as const), about: fc.nat(6) }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('words' as const), text: fc.constantFrom('a', 'b') }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('push' as const), about, text: content }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('delete' as const, 'close' as const), about }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('foreign' as const, 'main' as const), path, text: content }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('revert' as const, 'withdraw' as const), about }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('pick' as const, 'take' as const), about }) },
  { weight: 1, arbitrary: fc.constantFrom({ what: 'pause' } as const, { what: 'delete-optimize' } as const) },
)
export type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

export function happen(site: Site, event: Happening, nonce: number): void {
  const cause = `nonce ${nonce}`
  switch (event.what) {
    case 'look':
      site.step()
      return
    case 'measure':
      site.measure()
      return
    case 'cut':
      if (site.step(action => action === event.action)) site.kill(() => false)
      return
    case 'lose':
      return site.kill(() => true)
    case 'cut-off':
      site.underWay(event.after)
      return site.kill(() => true)
    case 'stop':
      site.underWay(event.after)
      if (site.campaign.status === 'running')
        site.ledger.add({ kind: 'campaign-stopped', cause, code: 'person', reason: 'for the night' })
      else if (site.campaign.status === 'stopped')
        site.ledger.add({ kind: 'campaign-resumed', cause, reason: '' })
      return
    case 'retry': {
      const experiment = nth(Object.keys(site.campaign.experiments), event.about)
      if (experiment === undefined) return
      site.ledger.add({ kind: 'steered', cause, action: 'retry', experiment, reason: 'again' })
      return
    }
    case 'words': {
      const files = { ...site.git.files(site.main.tree), README: event.text }
      site.main = site.git.commit(site.git.write(files), [site.main.commit], cause)
      return
    }
    case 'push': {
      const branch = nth([...site.branches.keys()], event.about)
      const tip = site.branches.get(branch ?? '')
      if (branch === undefined || tip === undefined) return
      const tree = site.git.write({ ...site.git.files(site.git.treeOf(tip)), 'src/d': event.text })
      site.branches.set(branch, site.git.commit(tree, [tip], cause).commit)
      return
    }
    case 'delete': {
      const branch = nth([...site.branches.keys()], event.about)
      if (branch !== undefined) site.branches.delete(branch)
      return
    }
    case 'close': {
      const at = site.pulls.findIndex(({ number }) => number === event.about)
      const pull = site.pulls[at]
      if (pull?.state === 'open') site.pulls[at] = { ...pull, state: 'closed' }
      return
    }
    case 'foreign': {
      if (site.optimize === null) return
      const files = { ...site.git.files(site.git.treeOf(site.optimize)), [event.path]: event.text }
      site.optimize = site.git.commit(site.git.write(files), [site.optimize], cause).commit
      return
    }
    case 'main': {
      const files = { ...site.git.files(site.main.tree), [event.path]: event.text }
      site.main = site.git.commit(site.git.write(files), [site.main.commit], cause)
      return
    }
    case 'revert':
    case 'withdraw': {
      const experiment = nth(Object.keys(site.campaign.experiments), event.about)
      if (experiment === undefined) return
      site.ledger.add({ kind: 'steered', cause, action: event.what, experiment, reason: 'please' })
      return
    }
    case 'pick': {
      const landed = site.campaign.landings.filter(({ reverted }) => reverted === null)
      const experiment = nth(landed, event.about)?.experiment
      if (experiment === undefined) return
      site.ledger.add({ kind: 'steered', cause, action: 'pick', experiment, reason: 'alone' })
      return
    }
    case 'take': {
      const pull = nth(
        site.pulls.filter(({ base, state }) => base === 'main' && state === 'open'),
        event.about,
      )
      const head = pull && site.branches.get(pull.branch)
      const merged = head === undefined ? null : site.git.merge(site.main.commit, head)
      if (head !== undefined && merged?.clean)
        site.main = site.git.commit(merged.tree, [site.main.commit, head], cause)
      return
    }
    case 'pause':
      if (site.campaign.status === 'running')
        site.ledger.add({ kind: 'campaign-paused', cause, reason: 'lunch', source: 'person' })
      else if (site.campaign.status === 'paused')
        site.ledger.add({ kind: 'campaign-resumed', cause, reason: '' })
      return
    case 'delete-optimize':
      site.optimize = null
      return
    default:
      event satisfies never
  }
}

function nth<T>(things: readonly T[], index: number): T | undefined {
  return things[index % Math.max(1, things.length)]
}
