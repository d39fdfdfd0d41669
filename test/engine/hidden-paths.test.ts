import { describe, expect, it } from 'vitest'
import { readPoint } from '../../src/engine/campaign/context.ts'
import { readSyncFacts } from '../../src/engine/observe/sync.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { createTestRepository } from '../support/repository.ts'

const SPEC = `winnow: 1
name: judged
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 1' }]
  judge: { rubric: Score 1 to 5., scoring: { primary: quality }, hidden_reference_paths: [./bench/keys/, /srv/key.json] }
measurement: { command: cat src/answers.json }
scope: { mutable: [src/] }
`

const create = (files: Record<string, string> = {}) =>
  createTestRepository({ spec: SPEC, name: 'judged', files: { 'src/answers.json': '{}', ...files } })

const EXPOSED =
  'metric.judge.hidden_reference_paths: bench/keys/1.json is in the repository, so every proposer can read it'

describe('metric.judge.hidden_reference_paths', () => {
  it('refuses a branch that has one of the files, of which every proposer has a copy', async () => {
    const site = await create({ 'bench/keys/1.json': '42' })
    await expect(site.start()).rejects.toThrow(EXPOSED)
  })

  it('refuses a later commit of the default branch that brings one', async () => {
    const site = await create()
    await site.start()
    site.write('bench/keys/1.json', '42')
    const commit = site.commit('oops')
    const { repository, defaultBranch } = site.place
    await repository.fetch([{ ref: defaultBranch, oid: commit }])
    const { spec } = parseSpec(SPEC, { file: '.winnow/judged.yaml' })
    const defaultTip = await readPoint(repository, commit)
    const campaign = await site.campaign()
    expect(await readSyncFacts({ repository, campaign, spec, defaultTip, where: 'local' })).toEqual({
      result: 'bad-spec',
      tip: commit,
      message: EXPOSED,
    })
  })
})
