import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { PINNED } from '../../src/init/workflows/steps.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const yamlFiles = readdirSync(join(ROOT, '.github'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.yml'))
  .map(path => `.github/${path}`)

const workflow = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      environment: z.string().optional(),
      permissions: z.record(z.string(), z.enum(['read', 'write'])),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
})
const { jobs } = workflow.parse(parse(read('.github/workflows/release.yml')))
const written = (name: string) => {
  const permissions = Object.entries(jobs[name]?.permissions ?? {})
  return permissions.flatMap(([scope, level]) => (level === 'write' ? [scope] : []))
}
const text = (name: string) => (jobs[name]?.steps ?? []).map(({ uses, run }) => `${uses} ${run}`).join('\n')

describe('release.yml', () => {
  it('gives each job one kind of power', () => {
    expect(Object.fromEntries(Object.keys(jobs).map(name => [name, written(name)]))).toEqual({
      check: [],
      test: [],
      attest: ['id-token', 'attestations'],
      npm: ['id-token'],
      github: ['contents'],
    })
  })

  it('runs code of other packages only in a job that may write nothing', () => {
    const installing = Object.keys(jobs).filter(name => /npm (?:ci|install|run|test)|npx/.test(text(name)))
    expect(installing).toEqual(['test'])
    expect(read('.github/workflows/release.yml')).not.toMatch(/(?:upload|download)-artifact|cache@|secrets\./)
  })

  it('lets reviewers stand between the tests and everything that signs as this workflow', () => {
    for (const name of Object.keys(jobs)) {
      const signs = written(name).includes('id-token')
      expect([name, jobs[name]?.environment]).toEqual([name, signs ? 'release' : undefined])
      if (signs) expect(jobs[name]?.needs).toEqual(['check', 'test'])
    }
    expect(jobs['github']?.needs).toEqual(['check', 'attest', 'npm'])
  })

  it('never forces a branch or moves a tag', () => {
    const moves = text('github')
    expect(moves).toContain('--verify-tag')
    expect(moves).toContain('-F force=false')
    expect(moves).not.toMatch(/refs\/tags|force=true|push -f|--force/)
  })
})

describe('pins', () => {
  const uses = yamlFiles.flatMap(path =>
    [...read(path).matchAll(/uses: (?<action>[\w.-]+\/[\w./-]+)@(?<pin>.*)/g)].map(({ groups }) => ({
      path,
      action: groups?.['action'] ?? '',
      pin: groups?.['pin'] ?? '',
    })),
  )

  it('name one commit and its version for each action, the same everywhere', () => {
    const wrong = uses.filter(({ pin }) => !/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(pin))
    expect(wrong).toEqual([])
    const repositories = new Set(uses.map(({ action, pin }) => `${action.split('/', 2).join('/')}@${pin}`))
    const names = [...repositories].map(each => each.split('@')[0])
    const several = names.filter((name, at) => names.indexOf(name) !== at)
    expect(several).toEqual([])
  })

  it('are those that winnow init --github writes: change src/init/workflows/steps.ts with them', () => {
    const pins = new Map(Object.entries(PINNED).map(([action, pin]) => [action, pin.join(' # ')]))
    const known = uses.filter(({ action }) => pins.has(action))
    expect(known.length).toBeGreaterThan(0)
    expect(known.filter(({ action, pin }) => pins.get(action) !== pin)).toEqual([])
  })
})

describe('dependabot.yml', () => {
  const update = z.strictObject({
    'package-ecosystem': z.enum(['npm', 'github-actions']),
    directory: z.string().optional(),
    directories: z.array(z.string()).optional(),
    schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
    cooldown: z.strictObject({ 'default-days': z.literal(7) }),
    'open-pull-requests-limit': z.number().optional(),
    groups: z.record(
      z.string(),
      z.strictObject({
        patterns: z.array(z.string()),
        'update-types': z.array(z.enum(['major', 'minor', 'patch'])).optional(),
      }),
    ),
    'commit-message': z.strictObject({ prefix: z.string() }),
  })
  const { updates } = z
    .strictObject({ version: z.literal(2), updates: z.array(update) })
    .parse(parse(read('.github/dependabot.yml')))

  it('looks after the packages, and after every folder with a workflow or an action', () => {
    expect(updates.map(each => each['package-ecosystem'])).toEqual(['npm', 'github-actions'])
    const actions = yamlFiles.filter(path => path.endsWith('/action.yml'))
    const folders = actions.map(path => `/${path.slice(0, -'/action.yml'.length)}`)
    expect(updates[1]?.directories).toEqual(['/', ...folders])
  })
})

describe('the community files', () => {
  it('SECURITY.md says how to report', () => {
    expect(read('SECURITY.md')).toMatch(/Report a vulnerability/)
  })

  it('the issue forms have what GitHub asks of them', () => {
    const form = z.object({
      name: z.string().min(3),
      description: z.string().min(3),
      body: z
        .array(
          z.object({
            type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']),
            id: z.string().optional(),
            attributes: z.record(z.string(), z.unknown()),
          }),
        )
        .min(1),
    })
    for (const path of yamlFiles.filter(each => /ISSUE_TEMPLATE\/(?!config)/.test(each))) {
      const { body } = form.parse(parse(read(path)))
      const ids = body.flatMap(({ id }) => id ?? [])
      expect(new Set(ids).size).toBe(ids.length)
      expect(body.some(({ type }) => type !== 'markdown')).toBe(true)
    }
  })
})
