import { findBenchScript, describeOtherBenchmarks } from '../bench-script.ts'
import type { Findings, FoundBenchmark, FoundCommand, ProjectLocation } from '../findings.ts'
import type { ProjectFiles } from '../project-files.ts'
import { listDotfilePatterns, selectSourcePlaces, listSourceFiles } from '../sources.ts'
import { listBenchNeeds, findBenchTarget, findTestTarget } from '../task-files.ts'

const CODE = /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx)$/
const CPP = /\.(?:cc|cpp|cxx|hh|hpp|hxx)$/
const CMAKE = 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'

/** C and C++, built by make or CMake. A package.json beside it is for those who install it. */
export function detectC(yard: ProjectLocation): Findings | null {
  const { files } = yard
  const sources = listSourceFiles(files, CODE)
  const hasMake = ['Makefile', 'makefile'].some(name => files.text(name) !== null)
  const hasCmake = files.text('CMakeLists.txt') !== null
  if (
    sources.length === 0 ||
    (!hasMake && !hasCmake && !sources.some(path => /\.(?:c|cc|cpp|cxx)$/.test(path)))
  )
    return null
  const script = findBenchScript(files, /\.sh$/, 'sh')
  const bench: FoundBenchmark | null = script?.found ?? findBenchTarget(files)
  const mutable = findCSourceRoots(sources)
  const setup = findCSetup(files, { hasMake, hasCmake }, bench)
  return {
    language: 'c',
    manager: hasMake ? 'make' : hasCmake ? 'cmake' : null,
    setup,
    test: findCTest(files, hasCmake && !hasMake),
    bench,
    mutable,
    immutable: listDotfilePatterns(files, mutable),
    entry: null,
    interpreter:
      sources.some(path => CPP.test(path)) && !sources.some(path => path.endsWith('.c')) ? 'c++' : 'cc',
    weight: sources.length,
    notes: describeOtherBenchmarks(script?.others ?? []),
  }
}

/** Headers often lie apart from what they declare. */
function findCSourceRoots(sources: readonly string[]): string[] {
  const homes = ['src/', 'lib/', 'source/', 'include/'].filter(home =>
    sources.some(path => path.startsWith(home)),
  )
  const top = sources.filter(path => !path.includes('/'))
  if (homes.length > 0 && !homes.every(home => home === 'include/')) return homes
  return top.length > 0 ? [...homes, ...top] : selectSourcePlaces(sources, [])
}

/** Splits a bench target: its prerequisites are built first, and only its own commands are timed. */
function findCSetup(
  files: ProjectFiles,
  { hasMake, hasCmake }: { hasMake: boolean; hasCmake: boolean },
  bench: FoundBenchmark | null,
): FoundCommand | null {
  if (hasMake) {
    const needs = bench?.from.startsWith('target ') === true ? listBenchNeeds(files) : []
    return { command: ['make', ...needs].join(' '), from: 'Makefile' }
  }
  return hasCmake ? { command: CMAKE, from: 'CMakeLists.txt' } : null
}

function findCTest(files: ProjectFiles, isCmake: boolean): FoundCommand | null {
  const target = findTestTarget(files)
  if (target !== null || !isCmake) return target
  const declares = /\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b/.test(
    files.text('CMakeLists.txt') ?? '',
  )
  const command = 'ctest --test-dir build --output-on-failure'
  return declares ? { command, from: 'CMakeLists.txt' } : null
}
