import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { readIdeaList } from '../../src/ideas/idea-block.ts'
import { readHistoryFile } from '../../src/ideas/prior-results.ts'
import {
  IMPORT_KINDS,
  type ImportedCampaign,
  importFiles,
  type ImportOptions,
} from '../../src/init/import/import-files.ts'
import { parseSpec } from '../../src/spec/load.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { mapSuite } from '../../src/spec/suite.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/import')

function importFixtures(files: string[], options: ImportOptions = {}): ImportedCampaign {
  return importFiles(
    files.map(file => ({ file, text: readFileSync(join(FIXTURES, file), 'utf8') })),
    options,
  )
}

function importText(text: string, options: ImportOptions = {}, file = 'file.txt'): ImportedCampaign {
  return importFiles([{ file, text }], options)
}

function readFile({ files }: ImportedCampaign, folder: string): string {
  return files.find(({ path }) => path.startsWith(folder))?.text ?? ''
}

/** Every spec that import writes is valid under the path where it is written. */
function readImportedSpec(imported: ImportedCampaign): Spec {
  const file = imported.specPath ?? ''
  return parseSpec(imported.files.find(({ path }) => path === file)?.text ?? '', { file }).spec
}

function history(imported: ImportedCampaign) {
  return readHistoryFile(readFile(imported, '.winnow/history/'))
}

function ideas(imported: ImportedCampaign): string[] {
  return readIdeaList(readFile(imported, '.winnow/ideas/'), 'ideas.yaml').map(({ hypothesis }) => hypothesis)
}

function leftovers({ left }: ImportedCampaign): string[] {
  return left.map(({ file, line, text }) => `${file}:${line ?? ''} ${text}`)
}

describe('a task of the artifact loop', () => {
  it('becomes a spec with every field', () => {
    const imported = importFixtures(['task.yaml'])
    expect(imported.specPath).toBe('.winnow/skill-quality.yaml')
    const spec = readImportedSpec(imported)
    expect(spec.rules).toBe('winnow')
    expect(spec).toMatchObject({
      name: 'skill-quality',
      description: 'Optimize a skill markdown file against a rubric.',
      metric: {
        primary: { name: 'score', direction: 'maximize' },
        constraints: [
          { metric: 'violation_count', op: '<=', value: 0 },
          { metric: 'length_tokens', op: '<=', value: 2500 },
        ],
      },
      measurement: {
        command: 'python scripts/run_skill_eval.py',
        working_directory: '.',
        timeout_seconds: 300,
        score: {
          command: 'python scripts/score_skill.py',
          parse: { format: 'json', score_field: 'score', metrics_field: 'metrics' },
        },
      },
      scope: { mutable: ['skills/writing/SKILL.md'], immutable: ['work/**'] },
      limits: { max_files: 2, max_changed_lines: 120, allowed_file_types: ['.md', '.txt', '.yaml', '.py'] },
      policy: {
        keep_if: 'better_primary',
        tie_breakers: [{ lower: 'violation_count' }, { lower: 'length_tokens' }],
        on_failure: 'discard',
      },
      stopping: { max_iterations: 50, max_failures: 10 },
    })
    expect(leftovers(imported)).toEqual([
      'task.yaml:57 logging.results_file: winnow records results in its ledger; winnow export --format jsonl writes them to a file',
      'task.yaml:58 logging.candidate_dir: winnow keeps every candidate as a commit on a branch',
    ])
  })

  it('brings its results with their diff summaries', () => {
    const imported = importFixtures(['task.yaml', 'results.jsonl'])
    expect(history(imported)).toEqual([
      {
        from: 'artifact-loop, results.jsonl',
        idea: 'State the audience in the first paragraph',
        result: 'keep',
        metrics: { score: 0.62, clarity: 0.7, coverage: 0.55, violation_count: 0, length_tokens: 1480 },
        diff: 'skills/writing/SKILL.md +6 -2',
      },
      expect.objectContaining({
        result: 'discard',
        diff: 'skills/writing/SKILL.md +85 -0',
        learned: 'length_tokens <= 2500 failed',
      }),
      {
        from: 'artifact-loop, results.jsonl',
        idea: 'Move the examples to a file of their own',
        result: 'crash',
        diff: 'skills/writing/SKILL.md +1 -30, skills/writing/examples.md +30 -0',
        learned: 'score_skill.py: no such file',
      },
    ])
    expect(leftovers(imported)).toContain('results.jsonl:4 this line is not a JSON object')
  })

  it('is refused where a spec would have to guess', () => {
    const text = readFileSync(join(FIXTURES, 'task.yaml'), 'utf8')
    const refused = (changed: string) => {
      try {
        importText(changed, {}, 'task.yaml')
      } catch (error) {
        if (error instanceof UserError) return `${error.place.line}: ${error.message}`
      }
      return null
    }
    expect(refused(text.replace('  direction: maximize\n', ''))).toBe(
      '33: objective.direction is missing, and a spec cannot be written without it',
    )
    expect(refused(text.replace('direction: maximize', 'direction: up'))).toContain(
      '35: objective.direction is neither',
    )
    expect(refused(text.replace('    - skills/writing/SKILL.md\n', ''))).toContain(
      'artifacts.include lists no file',
    )
  })

  it('lists what it does not know, with its line', () => {
    const text = readFileSync(join(FIXTURES, 'task.yaml'), 'utf8')
      .replace('mode: direct_edit', 'mode: patch_file')
      .replace('type: command', 'type: python_plugin\n  module: scorers.skill')
      .replace('  command: "python scripts/score_skill.py"\n', '')
    expect(leftovers(importText(text, {}, 'task.yaml')).slice(0, 3)).toEqual([
      'task.yaml:12 mutation.mode: winnow has only direct_edit',
      'task.yaml:26 scorer.type: winnow has only command',
      'task.yaml:27 scorer.module: winnow does not know this key',
    ])
  })
})

describe('a ce-optimize spec', () => {
  it('stays as it is', () => {
    const imported = importFixtures(['ce-hard.yaml'])
    const original = readFileSync(join(FIXTURES, 'ce-hard.yaml'), 'utf8')
    expect(readFile(imported, '.winnow/')).toBe(original)
    expect(readImportedSpec(imported)).toMatchObject({ rules: 'ce', name: 'improve-build-latency' })
    expect(leftovers(imported)).toEqual([])
  })

  it('keeps a judge', () => {
    const imported = importFixtures(['ce-judge.yaml'])
    expect(readImportedSpec(imported).metric.judge).toMatchObject({
      model: 'haiku',
      minimum_improvement: 0.2,
    })
    expect(leftovers(imported)).toEqual([])
  })

  it('brings its log as history, and its backlog as ideas', () => {
    const imported = importFixtures(['ce-hard.yaml', 'experiment-log.yaml'])
    expect(imported.files.map(({ path }) => path)).toEqual([
      '.winnow/improve-build-latency.yaml',
      '.winnow/ideas/improve-build-latency.yaml',
      '.winnow/history/improve-build-latency.yaml',
    ])
    expect(history(imported).map(({ idea, result, change }) => [idea, result, change])).toEqual([
      ['Cache the parsed configuration between targets', 'kept', '+4.8'],
      ['Compile every target in one process', 'degenerate', undefined],
      ['Skip type checks of unchanged targets', 'promising', undefined],
      ['Stream the output of the linker', 'timeout', undefined],
    ])
    expect(history(imported)[0]).toMatchObject({
      metrics: { build_seconds: 36.4 },
      diff: 'src/build/config.ts cache keyed by mtime',
      learned: 'Parsing dominates small targets.',
    })
    expect(readIdeaList(readFile(imported, '.winnow/ideas/'), 'x.yaml')).toMatchObject([
      {
        hypothesis: 'Remove template boilerplate before embedding',
        category: 'signal-extraction',
        priority: 'high',
      },
      { hypothesis: 'Try HDBSCAN clustering algorithm', required_deps: ['scikit-learn'] },
      { hypothesis: 'Use a faster hash for cache keys', category: 'algorithm' },
      { hypothesis: 'Skip type checks of unchanged targets' },
    ])
    expect(leftovers(imported).filter(line => line.startsWith('experiment-log'))).toEqual([
      'experiment-log.yaml:4 baseline: winnow measures the baseline itself, on its own machine',
      'experiment-log.yaml:50 experiments[4].operator: winnow does not know this key',
      'experiment-log.yaml:51 best: winnow counts a version as the best only after it has measured it',
    ])
  })

  it('has its log imported alone, for a spec that is there', () => {
    const imported = importFixtures(['experiment-log.yaml'])
    expect(imported).toMatchObject({ name: 'improve-build-latency', specPath: null })
    expect(imported.files).toHaveLength(2)
  })

  it('is refused with its own mistakes', () => {
    const text = readFileSync(join(FIXTURES, 'ce-hard.yaml'), 'utf8').replace('minimize', 'down')
    expect(() => importText(text, {}, 'ce-hard.yaml')).toThrow(
      /ce-hard\.yaml:9:\d+ {2}metric\.primary\.direction/,
    )
  })

  it('loses a setting that winnow cannot act on yet', () => {
    const text = readFileSync(join(FIXTURES, 'ce-hard.yaml'), 'utf8').replace(
      'backend: worktree',
      'backend: remote',
    )
    const imported = importText(text, {}, 'ce-hard.yaml')
    expect(readImportedSpec(imported).execution.backend).toBe('auto')
    expect(leftovers(imported)[0]).toBe(
      'ce-hard.yaml:41 execution.backend remote: this backend is not built yet; use worktree or auto.',
    )
  })
})

describe('a suite of AWP', () => {
  it('becomes the spec that winnow optimize runs', () => {
    const file = 'research_writeup.suite.yaml'
    const text = readFileSync(join(FIXTURES, '../suites', file), 'utf8')
    const imported = importText(text, {}, file)
    const { values, name, notes } = mapSuite(text, file)
    expect(imported.specPath).toBe(`.winnow/${name}.yaml`)
    expect(parse(readFile(imported, '.winnow/'))).toMatchObject(values)
    expect(readImportedSpec(imported).metric.primary).toMatchObject({ type: 'loss', direction: 'minimize' })
    expect(imported.left.map(one => one.text)).toEqual(expect.arrayContaining(notes))
  })
})

describe('files of evo', () => {
  it('become a spec with the gates of the root', () => {
    const imported = importFixtures(['evo/config.json', 'evo/graph.json'])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'parser-bench',
      metric: { primary: { name: 'score', direction: 'maximize' } },
      measurement: {
        setup: 'pip install -e .',
        command: 'nice -n 5 python ./bench/run.py --target src/parser.py',
        timeout_seconds: 900,
      },
      gates: [
        { name: 'init-gate', command: 'pytest -q ./tests' },
        { name: 'lint', command: 'ruff check .', phase: 'pre' },
      ],
      scope: { mutable: ['src/parser.py'] },
    })
    expect(leftovers(imported)).toEqual([
      'evo/config.json:2 attempt_cap_note: winnow does not know this key',
      'evo/config.json:4 commit_strategy: winnow commits the files that an idea changed, before it measures them',
      'evo/config.json:7 frontier_strategy: every experiment of winnow starts from the best version',
      'evo/config.json:10 max_attempts: winnow repeats a measurement until the evidence decides',
      'evo/config.json:16 runtime_env: name the variables that the benchmark needs under measurement.env',
      'evo/graph.json:7 gate no-threads of exp_0002: it holds below that node in evo; add it to gates if it should hold for every idea',
      'evo/graph.json:11 workspace_notes: winnow note records notes, once the campaign has started',
    ])
  })

  it('bring their results, ideas and annotations', () => {
    const files = ['graph.json', 'outcome.json', 'annotations.json', 'proposals.jsonl', 'result.json']
    const imported = importFixtures(
      files.map(file => `evo/${file}`),
      { name: 'parser-bench' },
    )
    expect(history(imported).map(({ idea, result, learned }) => [idea, result, learned])).toEqual([
      ['Precompile the token patterns', 'committed', 'helps long files most'],
      ['Parse in two threads', 'discarded', 'the interpreter lock'],
      ['Use a C extension', 'failed', 'benchmark_timeout'],
      ['Parse in two threads', 'evaluated', undefined],
      ['exp_0001, task csv', 'annotated', 'quoting costs most of the time'],
      ['a version without a description', 'measured', undefined],
    ])
    expect(history(imported)[3]).toMatchObject({ metrics: { score: 0.64 }, change: 'from 0.81' })
    expect(ideas(imported)).toEqual([
      'Intern the keys',
      'Slice instead of copy: a memoryview avoids one copy for each token',
    ])
  })
})

describe('the page of an evo project', () => {
  it('adds to the config what it lists, and its prose is left', () => {
    const imported = importFixtures(['evo/project.md', 'evo/config.json'])
    const spec = readImportedSpec(imported)
    expect(spec).toMatchObject({
      name: 'parser-bench',
      description:
        '`src/parser.py` turns a file into tokens. The benchmark parses 400 files and reports how many it parses in a second.',
      scope: { mutable: ['src/parser.py', 'src/tokens.py'], immutable: ['src/tables.py', 'bench/run.py'] },
      advice: ['A cache that outlives a run answers the second file for free.'],
    })
    expect(ideas(imported)).toEqual(['Parse numbers lazily.', 'Measure peak memory too.'])
    expect(leftovers(imported).filter(line => line.startsWith('evo/project.md'))).toEqual([
      'evo/project.md:8 Score: text for the agent is not imported; put what proposers should know under advice',
      'evo/project.md:22 Benchmark determinism: text for the agent is not imported; put what proposers should know under advice',
    ])
  })

  it('alone says nothing about measuring', () => {
    const imported = importFixtures(['evo/project.md'], { name: 'x' })
    expect([imported.specPath, ideas(imported).length]).toEqual([null, 2])
  })
})

describe('programs of autoresearch', () => {
  it('of a session become a spec with its checks, and the ideas for later a backlog', () => {
    const imported = importFixtures([
      '.auto/prompt.md',
      '.auto/measure.sh',
      '.auto/checks.sh',
      '.auto/ideas.md',
      'log.jsonl',
    ])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'faster-unit-tests-of-the-editor',
      description: 'Run the unit tests of the editor in less time. Nothing may be skipped.',
      metric: {
        primary: { name: 'total_us', direction: 'minimize' },
        diagnostics: [{ name: 'compile_us' }, { name: 'setup_us' }],
      },
      measurement: { command: 'bash .auto/measure.sh', output: 'metric-lines' },
      gates: [{ name: 'checks', command: 'bash .auto/checks.sh', phase: 'post' }],
      scope: { mutable: ['vitest.config.ts', 'test/support/**'], immutable: ['test/cases/', '.auto/'] },
      advice: ['Off limits: No test may be skipped.', 'All tests pass.', 'No new dependencies.'],
    })
    expect(ideas(imported)).toEqual(['Compile the fixtures once', 'Share one browser between files'])
    expect(history(imported).map(({ idea, result }) => [idea, result])).toContainEqual([
      'Threads instead of processes: 4 % faster, kept.',
      'noted',
    ])
    expect(leftovers(imported)).toEqual([
      '.auto/prompt.md:36 Environment: text for the agent is not imported; put what proposers should know under advice',
      'log.jsonl:4 the output of a hook was not imported',
    ])
  })

  it('for a training script say in sentences what may change, what runs and what it prints', () => {
    const imported = importFixtures(['training/program.md', 'results.tsv'])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'sentence-model',
      metric: { primary: { name: 'val_loss', direction: 'minimize' } },
      measurement: {
        command: String.raw`uv run train.py | sed -nE 's/^([A-Za-z_]+): +([-+0-9.eE]+)$/METRIC \1=\2/p'`,
        timeout_seconds: 300,
      },
      scope: { mutable: ['train.py'], immutable: ['prepare.py'] },
    })
    expect(history(imported)).toHaveLength(4)
    expect(leftovers(imported)).toContain('results.tsv:6 this row has 2 of 5 columns and was not read')
    expect(leftovers(imported).join('\n')).toContain('training/program.md:31 The experiment loop: text')
  })

  it('as one command have a field a line', () => {
    const imported = importFixtures(['autoresearch-command.txt'])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'raise-the-branch-coverage-of-the-parser',
      metric: { primary: { name: 'branch_coverage', direction: 'maximize' } },
      gates: [{ name: 'guard', command: 'npx tsc --noEmit' }],
      scope: { mutable: ['test/**/*.test.ts', 'src/parser/**'] },
      stopping: { max_iterations: 25 },
    })
    expect(readImportedSpec(imported).measurement.command).toBe(
      String.raw`npx vitest run --coverage | grep Branches | grep -oE '[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?' | tail -n 1 | sed 's/^/METRIC branch_coverage=/'`,
    )
    expect(leftovers(imported)).toEqual([
      'autoresearch-command.txt:5 Verify: the last number that it prints is branch_coverage',
      'autoresearch-command.txt:8 noise: winnow does not know this field',
    ])
  })

  it('are refused where a spec would have to guess', () => {
    const prompt = readFileSync(join(FIXTURES, '.auto/prompt.md'), 'utf8')
    expect(() => importText(prompt.replace('**Primary**', 'First'), {}, 'prompt.md')).toThrow(
      'prompt.md does not name its metric',
    )
    expect(() => importText(prompt.replaceAll('- `', '- '), {}, 'prompt.md')).toThrow(
      'prompt.md names no file that may change',
    )
    expect(() => importText(prompt.replace(', lower is better', ''), {}, 'prompt.md')).toThrow(
      'prompt.md does not say which way total_us is better',
    )
    expect(() => importText(prompt, { direction: 'maximize' }, 'prompt.md')).toThrow(
      '--direction maximize contradicts the way in which total_us is better',
    )
    expect(() => importFixtures(['ce-hard.yaml'], { direction: 'minimize' })).toThrow(
      '--direction has no effect: ce-hard.yaml says which way its metric is better',
    )
  })
})

describe('files of autoresearch', () => {
  it('become a spec for train.py, and history without the zeros of crashes', () => {
    const imported = importFixtures(['results.tsv'])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'autoresearch',
      metric: { primary: { name: 'val_bpb', direction: 'minimize' } },
      scope: { mutable: ['train.py'], immutable: ['prepare.py'] },
    })
    expect(
      history(imported).map(({ idea, result, metrics, commit }) => [idea, result, metrics, commit]),
    ).toEqual([
      ['baseline', 'keep', { val_bpb: 0.9979, memory_gb: 44 }, 'a1b2c3d'],
      ['increase LR to 0.04', 'keep', { val_bpb: 0.9932, memory_gb: 44.2 }, 'b2c3d4e'],
      ['switch to GeLU activation', 'discard', { val_bpb: 1.005, memory_gb: 44 }, 'c3d4e5f'],
      ['double model width (OOM)', 'crash', undefined, 'd4e5f6a'],
    ])
    expect(leftovers(imported)).toContain('results.tsv:6 this row has 2 of 5 columns and was not read')
  })

  it('of another metric are history for a campaign that is named', () => {
    const imported = importFixtures(['results-guarded.tsv'], { name: 'coverage' })
    expect(imported.specPath).toBeNull()
    expect(history(imported)[1]).toMatchObject({ metrics: { metric: 74 }, change: '+2.5', result: 'keep' })
    expect(() => importFixtures(['results-guarded.tsv'])).toThrow('the files name no campaign')
  })

  it('of a session become a spec together with the script that measures', () => {
    const imported = importFixtures(['log.jsonl', '.auto/measure.sh'])
    expect(readImportedSpec(imported)).toMatchObject({
      name: 'unit-tests',
      metric: {
        primary: { name: 'total_us', direction: 'minimize' },
        degenerate_gates: [{ name: 'total_us', check: '>= -1e300' }],
      },
      measurement: { command: 'bash .auto/measure.sh', output: 'metric-lines' },
      scope: { mutable: ['**'], immutable: ['.auto/'] },
    })
    expect(history(imported).map(({ idea, metrics }) => [idea, metrics])).toEqual([
      ['baseline', { total_us: 15200, compile_us: 4200 }],
      ['parallel workers', undefined],
      ['share the fixture between files', { total_us: 13100, compile_us: 4100 }],
    ])
    expect(leftovers(imported)).toContain('log.jsonl:4 the output of a hook was not imported')
    expect(leftovers(imported).some(line => line.includes('list the files to improve'))).toBe(true)
  })

  it('that do not say which way is better need to be told', () => {
    expect(() => importFixtures(['.auto/measure.sh'], { name: 'x' })).toThrow(
      '.auto/measure.sh does not say which way total_us is better',
    )
    const imported = importFixtures(['.auto/measure.sh'], { name: 'x', direction: 'maximize' })
    expect(readImportedSpec(imported).metric.primary).toMatchObject({
      name: 'total_us',
      direction: 'maximize',
    })
  })

  it('with METRIC lines are one measured version', () => {
    expect(history(importFixtures(['run.log'], { name: 'x' }))).toMatchObject([
      { result: 'measured', metrics: { total_us: 15200, compile_us: 4200 } },
    ])
  })
})

describe('a program of autoloop', () => {
  const file = '.autoloop/programs/test-coverage/program.md'

  it('becomes a spec', () => {
    const imported = importFixtures([file])
    const spec = readImportedSpec(imported)
    expect(spec).toMatchObject({
      name: 'test-coverage',
      description: 'Raise the test coverage of the library with tests that check behaviour.',
      metric: { primary: { name: 'coverage_percent', direction: 'maximize', target: 95 } },
      scope: { mutable: ['tests/**', 'vitest.config.ts'], immutable: ['src/**', '.autoloop/programs/**'] },
      advice: [
        'Prefer code that has no test yet.',
        'Every new test must fail when the code that it covers is broken.',
      ],
      schedule: '17 */6 * * *',
    })
    expect(spec.measurement.command).toMatch(/^npx vitest run .*\n# One number for all files\nnode -p /)
    expect(leftovers(imported).map(line => line.replace(file, ''))).toEqual([
      ':3 timeout-minutes: it limits a run of the agent; measurement.timeout_seconds limits the command, and timeout_seconds of a proposer limits the agent',
      ':16 How each iteration works: text for the agent is not imported; put what proposers should know under advice',
      ':41 Evolution Strategy: text for the agent is not imported; put what proposers should know under advice',
      ': gates: the file has none, so a broken result is noticed only where it prints no number; add a check that it fails',
    ])
  })

  it('has a schedule that cron can keep, or says that it has none', () => {
    const text = readFileSync(join(FIXTURES, file), 'utf8')
    const every = (interval: string) => importText(text.replace('every 6h', `every ${interval}`))
    expect(readImportedSpec(every('30m')).schedule).toBe('*/30 * * * *')
    expect(readImportedSpec(every('24h')).schedule).toBe('daily')
    for (const interval of ['90m', '36h', '0h']) {
      expect(readImportedSpec(every(interval)).schedule).toBe('daily')
      expect(leftovers(every(interval)).join('\n')).toContain('schedule: cron cannot repeat in that interval')
    }
  })

  it('is refused where it says too little', () => {
    const text = readFileSync(join(FIXTURES, file), 'utf8')
    expect(() => importText(text.replace('**Higher is better.**', ''))).toThrow(
      'which way coverage_percent is better',
    )
    expect(() => importText(text.replace('The metric is', 'It prints'))).toThrow('Evaluation names no metric')
    expect(() => importText(text.replace(/```[^]*```/, ''))).toThrow('Evaluation has no command')
    expect(() => importText(text.replaceAll('- `', '- '))).toThrow('Target lists no file')
  })
})

describe('the page about import', () => {
  it('names every tool', () => {
    const page = readFileSync(join(FIXTURES, '../../docs/import-and-export.md'), 'utf8')
    for (const kind of IMPORT_KINDS) expect(page).toContain(`\`${kind}\``)
  })
})

describe('any other file', () => {
  it('is not recognised, and a spec of winnow is none', () => {
    expect(() => importText('hello\n')).toThrow(
      'file.txt is not recognised: it is none of ce-optimize, artifact-loop, awp',
    )
    expect(() => importText('hello\n', { kind: 'evo' })).toThrow(
      'file.txt is not recognised: it is no file of evo',
    )
    expect(() => importText('hello\n', { kind: 'autoloop' })).toThrow('the program has no section "## Goal"')
    expect(() => importText('winnow: 1\n', {}, 'x.yaml')).toThrow('x.yaml is a spec of winnow already')
    expect(() => importText('a: [1\n', {}, 'x.yaml')).toThrow('x.yaml is not valid YAML or JSON')
  })

  it('of two that say how to measure is one too many', () => {
    expect(() => importFixtures(['task.yaml', 'ce-hard.yaml'])).toThrow('both say how to measure')
  })

  it('cannot bring control characters or a campaign outside its folder', () => {
    const log = { spec: '../../x', experiments: [{ hypothesis: 'a\u001b[31m\nb', outcome: 'kept' }] }
    const imported = importText(JSON.stringify(log), {}, 'log.json')
    expect(imported.name).toBe('x')
    expect(parse(readFile(imported, '.winnow/history/'))).toMatchObject([{ idea: 'a b' }])
  })
})
