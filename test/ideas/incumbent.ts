import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import type { Point } from '../../src/model/ids.ts'
import { openRepository, type Repository } from '../../src/git/repository.ts'
import { addCommit, userRepository } from '../git/scratch.ts'

export interface Start {
  repository: Repository
  main: Point
}

/** One repository for all tests of a file; each starts from a commit of its own on the same first one. */
export function useRepository(format = 'sha1'): (files?: Record<string, string>) => Promise<Start> {
  let root = ''
  let repository: Repository
  let first = ''
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'winnow-propose-'))
    const user = userRepository({ dir: join(root, 'user'), format })
    first = user.git('rev-parse', 'HEAD')
    const env = { PATH: process.env['PATH'] ?? '' }
    const options = { dir: join(root, 'own.git'), remote: user.dir, prefix: 'optimize', local: false, env }
    repository = await openRepository(options)
    await repository.fetch([{ ref: 'refs/heads/main', oid: first }])
  })
  afterAll(async () => {
    await repository.close()
    rmSync(root, { recursive: true, force: true })
  })
  return async (files = {}) => {
    const commit = await addCommit(repository, first, files)
    return { repository, main: { commit, tree: (await repository.commit(commit)).tree } }
  }
}

/** An incumbent that has moved on from this point. */
export async function movedOn(
  repository: Repository,
  from: Point,
  files: Record<string, string | null>,
): Promise<Point> {
  const commit = await addCommit(repository, from.commit, files)
  return { commit, tree: (await repository.commit(commit)).tree }
}

export async function contentOf(
  repository: Repository,
  commit: string,
  path: string,
): Promise<string | null> {
  const entry = await repository.findEntry((await repository.commit(commit)).tree, path)
  return entry === null ? null : (await repository.blob(entry.oid)).toString('utf8')
}

const OID = 'a'.repeat(40)

export function aCampaign(rest: Partial<Campaign> = {}): Campaign {
  return { ...createEmptyCampaign(), name: 'speed', status: 'running', ...rest }
}

export function anExperiment(number: number, rest: Partial<Experiment> = {}): Experiment {
  const id = `exp-${String(number).padStart(3, '0')}`
  return {
    id,
    number,
    opened: `event-${number}`,
    opened_at: '2026-01-01T00:00:00.000Z',
    purpose: 'idea',
    hypothesis: `idea ${number}`,
    category: 'general',
    priority: 'medium',
    required_deps: [],
    needs_permission: null,
    held: null,
    allowed_head: null,
    awaits_sync: null,
    approval: null,
    approved: {},
    family: null,
    source: { use: 'patch', key: `patch:${number}` },
    branch: `optimize-exp/speed/${id}`,
    owned: true,
    pull: null,
    head: OID,
    status: 'queued',
    round: null,
    order: null,
    standalone: null,
    holdout: null,
    attempts: 0,
    interrupted: 0,
    interruption: null,
    learnings: null,
    carries: null,
    answer_tree: null,
    outcome: null,
    verdict: null,
    reason: null,
    closed: false,
    measured_tree: null,
    failed: null,
    measured_in: null,
    metrics: {},
    base_metrics: {},
    tests: {},
    base_tests: {},
    tasks: null,
    primary_delta: null,
    evidence: null,
    single_machine: false,
    guard: null,
    unisolated: null,
    alpha_share: null,
    variant: null,
    touched: null,
    asked_at: null,
    consents: [],
    refused_path: null,
    refused_line: null,
    resumed: 0,
    given_up: null,
    give_up: 'early',
    result_events: [],
    counted: false,
    ...rest,
  }
}

export function withExperiments(...experiments: Experiment[]): Pick<Campaign, 'experiments' | 'sources'> {
  return {
    experiments: Object.fromEntries(experiments.map(one => [one.id, one])),
    sources: Object.fromEntries(experiments.map(one => [one.source.key, one.id])),
  }
}
