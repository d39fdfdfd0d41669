import { summary } from '@actions/core'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import {
  printAnnotation,
  appendSummary,
  hideSecrets,
  type Outputs,
  reportFailure,
  setOutputs,
  toLogLine,
  writeSummary,
} from '../../src/action/outputs.ts'
import { createGithubClient } from '../../src/github/client.ts'
import { listTokenForms } from '../../src/action/drop-secrets.ts'
import { scratch } from '../git/scratch.ts'
import { onGithub, ticking } from './a-campaign.ts'
import { type Ended, outputsIn, step } from './a-runner.ts'
import { selectCases } from '../support/cases.ts'

const everything = ({ stdout, stderr, summary, outputs }: Ended) =>
  [stdout, stderr, summary, JSON.stringify(outputs)].join('\n')

describe('the token of a job', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  it('has the forms in which GitHub and git are told it, whatever base64 ends with', () => {
    for (const token of ['ghs_a', 'ghs_ab', 'ghs_abc']) {
      const forms = listTokenForms(token)
      for (const told of [token, base64(token), base64(`x-access-token:${token}`)])
        expect(forms.some(form => form !== '' && told.startsWith(form))).toBe(true)
      expect(forms.join()).not.toContain('=')
    }
  })

  it('is told to the runner in all its forms before anything else, and by whatever is given one', async () => {
    for (const command of ['tick', 'run', 'measure', 'propose', 'nothing']) {
      const inputs = { command, 'github-token': 'ghs_0123456789abcdef' }
      const ended = await step({ inputs, workspace: tmpdir() })
      expect(ended.code).not.toBe(0)
      expect(ended.masks).toEqual(listTokenForms(inputs['github-token']))
    }
    expect((await step({ inputs: { command: 'status' }, workspace: tmpdir() })).masks).toEqual([])
  })

  it('is told beside that of an App, which tick alone takes', async () => {
    const tokens = { 'github-token': 'ghs_0123456789abcdef', 'app-token': 'ghs_fedcba9876543210' }
    const commands = ['run', 'measure', 'propose', 'report', 'audit', 'replay', 'status', 'check']
    for (const command of selectCases(commands, 4)) {
      const ended = await step({ inputs: { command, 'app-token': tokens['app-token'] }, workspace: tmpdir() })
      expect([command, ended.code]).toEqual([command, 2])
      expect(ended.stdout).toContain(`command ${command} does not accept the input app-token`)
      expect(ended.masks).toEqual(listTokenForms(tokens['app-token']))
    }
    const ticked = await step({ inputs: { command: 'tick', ...tokens }, workspace: tmpdir() })
    expect(ticked.masks).toEqual(Object.values(tokens).flatMap(listTokenForms))
  })

  it('is not given a second time as that of an App, which may be as little wrong in itself', async () => {
    const { github, token } = await onGithub()
    const twice = await ticking(github, token, {}, { 'app-token': token })
    expect([twice.code, twice.stdout]).toEqual([
      2,
      expect.stringContaining('app-token and github-token are the same token'),
    ])
    const broken = await ticking(github, token, {}, { 'app-token': 'ghs_one\nghs_two' })
    expect([broken.code, broken.stdout]).toEqual([2, expect.stringContaining('characters that no token has')])
    expect(github.api.log).toEqual([])
  })

  it('is in nothing that is printed, also where git was told to print everything', async () => {
    const { github, token } = await onGithub({}, { contents: 'read', pull_requests: 'read', actions: 'read' })
    const loud = { GIT_TRACE_CURL: '1', GIT_TRACE_REDACT: '0', RUNNER_DEBUG: '1' }
    const ended = await ticking(github, token, loud)
    expect(ended.code).toBe(69)
    // Its own words are there, and what it was told with is not.
    expect(ended.stdout).toMatch(/authorization: Basic \*\*\*/i)
    for (const form of listTokenForms(token)) expect(everything(ended)).not.toContain(form)
  })

  it('with characters that no token has is refused, and not repeated', async () => {
    const { github } = await onGithub()
    const token = 'ghs_one\nghs_two'
    const ended = await ticking(github, token)
    expect([ended.code, ended.stdout]).toEqual([2, expect.stringContaining('characters that no token has')])
    expect(everything(ended)).not.toMatch(/ghs_(?:one|two)/)
    expect(github.api.log).toEqual([])
  })
})

test('no client is made that would repeat it in an error', () => {
  const access = {
    apiUrl: 'http://127.0.0.1',
    repository: 'team/project',
    version: '0',
    say: () => undefined,
  }
  for (const token of ['ghs_a\nb', 'ghs_\u20ac', 'ghs a', ''])
    expect(() => createGithubClient({ ...access, token })).toThrow('characters that no token has')
})

test('what is hidden is hidden in every place that the action writes to', async () => {
  const shown = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => shown.mockRestore())
  const dir = scratch()
  const env = { GITHUB_OUTPUT: join(dir, 'output'), GITHUB_STEP_SUMMARY: join(dir, 'summary') }
  for (const [name, file] of Object.entries(env)) {
    writeFileSync(file, '')
    vi.stubEnv(name, file)
  }
  onTestFinished(() => void vi.unstubAllEnvs())
  // The toolkit remembers the file of the first job in this process.
  Reflect.set(summary, '_filePath', undefined)
  summary.emptyBuffer()
  const secret = 'ghs_zyxwvutsrq'
  hideSecrets([secret, secret, ''])
  expect(shown.mock.calls).toEqual([[`::add-mask::${secret}\n`]])
  appendSummary(`a ${secret} b`)
  reportFailure(new Error(`c ${secret} ${'d'.repeat(140)} ${secret}`))
  await writeSummary()
  const last = shown.mock.calls.at(-1)?.join() ?? ''
  expect(last).toMatch(/^::error .*c \*\*\* /)
  const written = [...Object.values(env).map(file => readFileSync(file, 'utf8')), last]
  setOutputs({ 'result-json': JSON.stringify({ secret }) })
  printAnnotation(secret)
  const [annotation] = shown.mock.calls.at(-1) ?? []
  written.push(readFileSync(env.GITHUB_OUTPUT, 'utf8'), toLogLine(`e ${secret}`), String(annotation))
  expect(written.join('\n').match(/\*\*\*|zyxw|\\_/g)).toEqual(Array(8).fill('***'))
})

describe('a short password, which stands in other words by chance', () => {
  const SHORT = ['wi', 'ab', 'order', '7', '"', 'true']

  // These words stand in most texts, so modules of their own hide them: secrets are known until a process ends.
  async function ownModules() {
    vi.resetModules()
    onTestFinished(() => void vi.resetModules())
    const { hideSecrets: hide, setOutputs } = await import('../../src/action/outputs.ts')
    const { createKeptFiles: keptFiles } = await import('../../src/action/saved-files.ts')
    const shown = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    onTestFinished(() => shown.mockRestore())
    hide(SHORT)
    return { setOutputs, keptFiles }
  }

  async function hiding(outputs: Outputs): Promise<Record<string, string>> {
    const { setOutputs } = await ownModules()
    const file = join(scratch(), 'output')
    vi.stubEnv('GITHUB_OUTPUT', file)
    onTestFinished(() => void vi.unstubAllEnvs())
    setOutputs(outputs)
    return outputsIn(readFileSync(file, 'utf8'))
  }

  it('changes no path, no name and no flag that a later step goes by', async () => {
    const paths = {
      report: '/home/runner/work/_temp/winnow-report-ab7/order.json',
      artifact: 'winnow-order-7',
      propose: 'ab',
    }
    expect(await hiding(paths)).toMatchObject(paths)
  })

  it('changes no form of the answer, no number and no id, and is in no sentence of it', async () => {
    const answer = {
      order: 'ab7'.repeat(20),
      isolated: true,
      executions: 7,
      why: 'the proxy said "ab" to order 7',
      from: ['http://ada:order@proxy:3128', 'winnow-7'],
    }
    const outputs = await hiding({ 'result-json': JSON.stringify(answer) })
    const told = JSON.parse(outputs['result-json'] ?? '')
    expect(told).toEqual({
      ...answer,
      why: 'the proxy said ********* to *** ***',
      from: ['http://ada:***@proxy:3128', 'winnow-7'],
    })
  })

  it('is in nothing that is no answer but words', async () => {
    expect((await hiding({ 'result-json': 'cannot go by order' }))['result-json']).toBe('cannot go by ***')
  })

  it('changes no id in what could not be written, which stays JSON', async () => {
    const { keptFiles } = await ownModules()
    const files = keptFiles({ RUNNER_TEMP: scratch() })
    await files.keep('size.json', JSON.stringify({ id: 'ab7', events: [{ order: 7, why: 'lost order 7' }] }))
    const dir = files.tell().report ?? ''
    expect(JSON.parse(readFileSync(join(dir, 'size.json'), 'utf8'))).toEqual({
      id: 'ab7',
      events: [{ order: 7, why: 'lost *** ***' }],
    })
  })
})
