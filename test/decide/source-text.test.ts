import { describe, expect, it } from 'vitest'
import { findSuspiciousChanges } from '../../src/decide/suspicious-changes.ts'
import { readSourceText } from '../../src/decide/source-text.ts'

function findRules(path: string, after: string): string[] {
  return findSuspiciousChanges([{ path, before: null, after: `${after}\n` }]).map(({ rule }) => rule)
}

describe('a comment', () => {
  it.each([
    ['a.js', 'run() // process.exit(0)'],
    ['a.js', '/* process.exit(0) */ run()'],
    ['a.js', '/**\n * `process.exit(0)` and JSON.parse = fake\n */\nrun()'],
    ['a.js', 'const half = (a + b) / 2 // process.exit(0)\n// process.exit(0)'],
    ['a.js', 'const slash = /[/\'"]/g\n// process.exit(0)'],
    ['a.js', 'const text = `${a} // ${b}`\n// process.exit(0)'],
    ['a.ts', 'const list: string[] = [] // new Function(body)'],
    ['a.py', 'value = 1  # os._exit(0)'],
    ['a.py', 'def run():\n    """Never calls os._exit(0), nor pickle.loads()."""\n    return 1'],
    ['a.py', 'text = f"{name!r:>{width}}"\n# os._exit(0)'],
    ['a.py', 'text = f\'{names["a"]}\'  # os._exit(0)'],
    ['a.go', 'run() // os.Exit(0)\n/* os.Exit(0) */'],
    ['a.rs', "let c = '\"'; // process::exit(0)\nfn of<'a>(x: &'a str) {} // std::mem::transmute"],
    ['a.rs', '/* outer /* inner */ process::exit(0) */\nlet raw = r#"a"b"#; // process::exit(0)'],
    ['A.java', "char quote = '\"'; // System.exit(0)"],
    ['a.c', "int n = 1'000; /* exit(0); */ char c = '\\''; // exit(0);"],
    ['a.sh', 'size=${#name} # exit 0\necho "it\'s" # exit 0'],
    ['a.sh', 'echo "${name%.*}"\n# exit 0'],
    ['a.rb', '# exit! here'],
    ['a.lua', '-- calls exit here.'],
    ['a.c', '#include <stdio.h>\n// exit(0);'],
    ['A.kt', 'val a = "$b" // System.exit(0)'],
  ])('is no code: %s: %s', (path, after) => {
    expect(findRules(path, after)).toEqual([])
  })
})

describe('code that looks like a comment', () => {
  it.each([
    ['a.js', '/*\n// */ process.exit(0)'],
    ['a.js', 'const a = `\n// `; process.exit(0)'],
    ['a.js', 'if (a) /[/*]/.test(b); process.exit(0) /* */'],
    ['a.js', "const of = 1\nconst b = of /'/*a'in process.exit(0)+''"],
    ['a.js', "const b = object.return /'/*a'in process.exit(0)+''"],
    ['a.js', "let b = a // =\n/'/*a'in process.exit(0)+''"],
    ['a.js', "let b = a++ /'/*a'in process.exit(0)+''"],
    ['a.jsx', 'const a = <p>\n// {process.exit(0)}\n</p>'],
    ['a.js', "const b = object.\nif (1) /'//* ' / process.exit(0) / ' */'"],
    ['a.js', "const b = object.\nreturn /'//* ' / process.exit(0) / ' */'"],
    ['a.cjs', '<!-- /*\nprocess.exit(0)\n// */'],
    ['a.cjs', 'let a = 1\n--> /*\nprocess.exit(0)\n// */'],
    ['a.html', '<p>https://example.invalid</p><script>process.exit(0)</script>'],
    ['a.js', 'const a = `${`// `}${process.exit(0)}`'],
    ['a.py', 'a = """\n# """; os._exit(0)'],
    ['a.py', "a = '\\\n# '; os._exit(0)"],
    ['a.py', 'a = f"{d["#"]}"; os._exit(0)'],
    ['a.py', 'a = f"}}{x:{d["#"]}}"; os._exit(0)'],
    ['a.py', 'a = f"""{ """#""" }"""; os._exit(0)'],
    ['a.py', 'f"""{os._exit(0)}"""'],
    ['a.py', 'exec(\n"""os._exit(0)"""\n)'],
    ['a.py', 'def run():\n    """\n    >>> import os; os._exit(0)\n    """'],
    ['a.py', '# coding: unicode_escape\n# \\u000aimport os\\u000aos._exit(0)'],
    ['a.go', 'var a = `\n// `; os.Exit(0)'],
    ['a.rs', 'let a = "\n// "; std::process::exit(0);'],
    ['A.java', '// \\u000aSystem.exit(0);'],
    ['A.java', 'String a = """\n// """; System.exit(0);'],
    ['a.c', 'char *a = "\\\n// "; exit(0);'],
    ['a.c', '#include <a/*b.h>\nexit(0);\n#include <a*/b.h>'],
    ['A.kt', 'val a = "${"/*"}"; System.exit(0); val b = "${"*/"}"'],
    ['A.kt', 'val a = """\\""" + """/*"""; System.exit(0); """*/"""'],
    ['a.pl', "my $a = '\n# '; exit 0;"],
    ['a.php', '# <?php exit(0);'],
    ['A.cs', 'var a = @"\n// "; Environment.Exit(0);'],
    ['a.c', '/* *\\\n/ exit(0); /* */'],
    ['a.c', '// one \\\nexit(0);\nexit(0);'],
    ['a.cpp', 'auto a = R"x(\n// )x"; exit(0);'],
    ['a.sh', "a='\n# '; exit 0"],
    ['a.sh', "cat <<X\n'\nX\na='\n# '; exit 0"],
    ['a.sh', 'a="$(echo "\n# ")"; exit 0'],
    ['a.sh', 'echo ${a:-\n#}; exit 0'],
    ['a.rb', "a = '\n# '; exit!"],
    ['a.rb', 'a = %q(\n# ); exit!'],
  ])('counts as code: %s: %s', (path, after) => {
    expect(findRules(path, after)).not.toEqual([])
  })

  it('keeps each line and each place', () => {
    const text = "run('one sentence') // a\n/* b\n c */ const d = `e ${f} g`\n"
    const { code, skeleton } = readSourceText(text, 'js')
    expect(code).toBe('run(              )  \n \n const d = `e ${f} g`\n')
    expect(skeleton).toBe('run(              )  \n \n const d =      f    \n')
  })
})
