import { describe, expect, it } from 'vitest'
import { commandsIn, found } from './a-project.ts'

const C = { 'src/parse.c': 'int parse(void) { return 1; }\n', 'include/parse.h': 'int parse(void);\n' }
const MAKEFILE =
  'all: parse\nparse:\n\tcc -c src/parse.c\nbench: bench_parse\n\t./bench_parse\nbench_parse: parse\n\tcc -o bench_parse bench/parse.c\ntest: all\n\t./test.sh\n'

describe('a C project', () => {
  it('uses make to build, test and measure; the build of the benchmark is not timed', () => {
    const files = { ...C, Makefile: MAKEFILE, 'bench/parse.c': '' }
    expect(commandsIn(files)).toEqual({ setup: 'make bench_parse', test: 'make test', bench: 'make bench' })
    expect(found(files)).toMatchObject({ language: 'c', manager: 'make', mutable: ['src/', 'include/'] })
  })

  it('uses CMake if there is no Makefile', () => {
    const files = { ...C, 'CMakeLists.txt': 'project(p C)\ninclude(CTest)\n' }
    expect(commandsIn(files)).toEqual({
      setup: 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build',
      test: 'ctest --test-dir build --output-on-failure',
      bench: null,
    })
    expect(commandsIn({ ...C, 'CMakeLists.txt': 'project(p C)\n' }).test).toBeNull()
  })

  it('stays a C project if it has a package.json for its users', () => {
    const files = {
      ...C,
      Makefile: MAKEFILE,
      'package.json': { name: 'parse', scripts: { install: 'make' } },
    }
    expect(found(files).language).toBe('c')
    expect(found({ ...files, 'index.js': '' }).language).toBe('c')
  })

  it('is C++ if it has no C file', () => {
    expect(found({ 'a.cpp': '', 'a.hpp': '', Makefile: 'all:\n' })).toMatchObject({
      interpreter: 'c++',
      mutable: ['a.cpp', 'a.hpp'],
    })
  })

  it('is not detected if the C files belong to a package of another language', () => {
    const addon = {
      'package.json': { name: 'addon', main: 'lib/index.js', scripts: { test: 'node --test' } },
      'binding.gyp': '{}',
      'lib/index.js': '',
      'lib/load.js': '',
      'src/addon.cc': '',
      'bench/run.js': 'run()\n',
    }
    expect(found(addon)).toMatchObject({ language: 'node', mutable: ['lib/', 'src/'] })
  })
})
