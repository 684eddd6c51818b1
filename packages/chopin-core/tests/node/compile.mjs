// Reads sources as JSON, compiles each with the real MDX compiler, and answers what MDX made of it.
import { compile } from "@mdx-js/mdx";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";

const EXECUTABLE = new Set(["mdxjsEsm", "mdxFlowExpression", "mdxTextExpression"]);
const ELEMENTS = new Set(["mdxJsxFlowElement", "mdxJsxTextElement"]);

// Before any other plugin: MDX rewrites the tree on its way.
function witness(found) {
  return () => (tree) => walk(tree, found);
}

function walk(node, found) {
  if (EXECUTABLE.has(node.type)) found.executable.push(node.type);
  if (ELEMENTS.has(node.type)) {
    found.elements.push(node.name ?? "");
    for (const attribute of node.attributes) {
      if (attribute.type !== "mdxJsxAttribute" || (attribute.value !== null && typeof attribute.value !== "string")) {
        found.executable.push(attribute.type);
      }
    }
  }
  if (node.type === "code" || node.type === "inlineCode" || node.type === "math" || node.type === "inlineMath") {
    found.literals.push(node.value);
  }
  for (const child of node.children ?? []) walk(child, found);
}

async function read() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

const answers = [];
const { sources, extensions } = await read();
const plugins = extensions ? [[remarkGfm, { singleTilde: false }], remarkMath] : [];
for (const source of sources) {
  const found = { executable: [], elements: [], literals: [], error: null };
  try {
    await compile(source, { remarkPlugins: [witness(found), ...plugins] });
  } catch (error) {
    found.error = String(error.reason ?? error);
  }
  answers.push(found);
}
process.stdout.write(JSON.stringify(answers));
