import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ordersIn } from '../action/runner-rules.ts'
import { letters, SIZE_HARNESS } from '../support/size-repository.ts'
import { patchOf, proven } from '../support/repository.ts'
import { scratch } from '../git/scratch.ts'
import { campaignOnGithub } from './campaign-on-github.ts'

const ORDERS = '::set-output name=report::/etc/passwd'
const OLDER = 'x ##[set-output name=artifact]stolen'
/** On every kind of line, to a runner, and to whoever reads Markdown. */
const HOSTILE = `${ORDERS}\n${OLDER}\n  ::stop-commands::t\r::error::r\n<img src=x> @octocat fixes #1 [skip ci]`

/** A harness and a gate of a candidate that tell whoever reads along what to do, on both streams. */
const SHOUTING = `#!/bin/sh
echo '${ORDERS}'; echo '${OLDER}' >&2
`

test('text from branches, comments and reports gives no orders, and is recorded as the text it is', {
  timeout: 240_000,
}, async () => {
  const shouting = patchOf(
    { 'src/a.txt': [letters('a', 15), 'crash\n'], 'src/::add-mask::x': [null, 'x\n'] },
    { hypothesis: `${OLDER} [skip ci]`, category: ORDERS },
  )
  const here = await campaignOnGithub({
    'bench/size.sh': SIZE_HARNESS.replace("echo 'it went wrong' >&2", 'sh bench/shout.sh'),
    'bench/shout.sh': SHOUTING,
    'ideas/01.patch': shouting,
  })
  const { github } = here
  const files = scratch()
  const env = { GITHUB_OUTPUT: join(files, 'output'), GITHUB_STEP_SUMMARY: join(files, 'summary') }
  let heard = ''
  function hear(out: string) {
    expect(ordersIn(out)).toEqual([])
    heard += out
  }
  async function wake() {
    const { code, out } = await here.wake({ env })
    expect([code, out]).toEqual([0, out])
    hear(out)
  }
  const machines = () => here.machines({ env, hear })
  await wake()
  await machines()
  const body = '```winnow\nhypothesis: "::error::b ##[error]b"\n```\n'.concat(HOSTILE)
  await here.offers(HOSTILE, { 'src/b.txt': letters('b', 4) }, { branch: 'mine-##', body })
  const said = `[skip ci] ${OLDER}\n\n${ORDERS}`
  const quiet = here.git('commit-tree', 'mine-##^{tree}', '-p', here.tip('main'), '-m', said)
  here.git('update-ref', 'refs/heads/mine-##', quiet)
  await here.offers('outside', { 'bench/##[error]no': 'x\n', 'bench/::error::no': 'x\n' })
  const mine = here.pull(HOSTILE)
  for (const order of ['/winnow ::error::x', '/winnow ##[error]x', `/winnow avoid "${ORDERS}"`])
    await here.asks(`POST /issues/${mine.number}/comments`, { body: order })
  await wake()
  while (here.waiting().length > 0) await machines()
  const offer = github.world.pulls.find(({ base }) => base === 'main')
  await here.asks(`POST /issues/${offer?.number}/comments`, {
    body: `/winnow pause -m "${OLDER} <img src=x> @octocat ::error::x"`,
  })
  await wake()

  const client = await here.openClient()
  const outcomes = new Set(Object.values(await client.outcomes()))
  expect(outcomes).toEqual(new Set(['error', 'kept', 'refused']))
  expect(heard).toContain('bench/')
  const summary = readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')
  expect(summary).toContain('Waiting for a person: the campaign is paused')
  expect(summary).not.toMatch(/(?<!\\)<img|@octocat|##\[/)
  for (const commit of here.git('log', '--first-parent', '--format=%B', 'optimize/size').split('\n'))
    expect(commit).not.toMatch(/\[skip ci\]|@octocat|fixes #1/)
  const own = github.world.comments.filter(({ author }) => author.kind === 'actions')
  expect(own.length).toBeGreaterThan(2)
  for (const { body: answer } of own) expect(answer).not.toMatch(/(?<!\\)<img|@octocat/)
  await proven(client.place)
})
