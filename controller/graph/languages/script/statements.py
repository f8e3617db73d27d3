"""Imports and exports of JavaScript and TypeScript, read from their syntax nodes.

What a file exports stands in the scope `EXPORTED`: `export {a as b}` is `b`, which denotes `a` of the file itself. A
CommonJS module is its own default export, so that `require` and `import` of it find the same.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from controller.graph.facts import FileFacts, Import
from controller.graph.languages.syntax import Statement

if TYPE_CHECKING:
    from tree_sitter import Node

EXPORTED = "<export>"
ITSELF = "<itself>"
"""The module that is the file which imports it."""

_DECLARED = (
    "function_declaration", "generator_function_declaration", "function_signature", "class_declaration",
    "abstract_class_declaration", "interface_declaration", "enum_declaration", "type_alias_declaration",
    "internal_module", "module",
)  # fmt: skip


def read_statement(statement: Statement) -> Iterator[Import]:
    """Yield every name that a statement binds or exports."""
    kind = statement.node.type
    if kind == "import_statement":
        yield from _import(statement)
    elif kind == "export_statement":
        yield from _export(statement) if statement.top else ()
    elif kind == "import_alias":
        name, denoted = (statement.text(child) for child in statement.node.named_children[:2])
        yield Import(statement.scope, name, "", denoted, "", statement.line)
    elif kind == "variable_declarator":
        yield from _required(statement)
    elif kind == "call_expression":
        module = _called_module(statement, statement.node)
        yield Import(statement.scope, "", module, "", module, statement.line)
    elif kind == "assignment_expression":
        yield from _assigned(statement)


def exports_itself(found: FileFacts) -> FileFacts:
    """Let the file be its own default export, where it exports something and no default.

    Where one name is what a CommonJS module exports, what it exports besides are members of that name.
    """
    exported = [each for each in found.imports if each.scope == EXPORTED]
    defaults = [each for each in exported if each.bound == "default"]
    if exported and not defaults:
        itself = Import(EXPORTED, "default", ITSELF, "", ITSELF, exported[0].line)
        return found._replace(imports=(*found.imports, itself))
    whole = next((each.symbol for each in defaults if not each.denotes), "")
    members = [each._replace(scope=whole) for each in exported if whole and not each.denotes and each not in defaults]
    return found._replace(imports=(*found.imports, *members)) if members else found


def _import(statement: Statement) -> Iterator[Import]:
    node, scope, line = statement.node, statement.scope, statement.line
    module = _string(statement, node.child_by_field_name("source"))
    bound = 0
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            module = _string(statement, clause.child_by_field_name("source"))
            yield Import(scope, statement.text(clause.named_children[0]), module, "default", module, line)
            return
        for part in clause.named_children if clause.type == "import_clause" else ():
            bound += 1
            if part.type == "identifier":
                yield Import(scope, statement.text(part), module, "default", module, line)
            elif part.type == "namespace_import":
                yield Import(scope, statement.text(part.named_children[-1]), module, "", module, line)
            else:
                for each in part.named_children:
                    name, alias = _names(statement, each)
                    yield Import(scope, alias or name, module, name, module, each.start_point.row + 1)
    if not bound and module:
        yield Import(scope, "", module, "", module, line)


def _names(statement: Statement, specifier: "Node") -> tuple[str, str]:
    """Return name and alias of `name as alias`."""
    name = statement.text(specifier.child_by_field_name("name")).strip("\"'")
    return name, statement.text(specifier.child_by_field_name("alias")).strip("\"'")


def _export(statement: Statement) -> Iterator[Import]:
    node, line = statement.node, statement.line
    source = node.child_by_field_name("source")
    module = _string(statement, source)
    if declaration := node.child_by_field_name("declaration"):
        default = any(child.type == "default" for child in node.children)
        for name in _declared(statement, declaration):
            yield Import(EXPORTED, "default" if default else name, "", name, "", line)
        return
    for part in node.named_children:
        if part.type == "export_clause":
            for each in part.named_children:
                name, alias = _names(statement, each)
                if name:
                    yield Import(EXPORTED, alias or name, module, name, module, each.start_point.row + 1)
        elif part.type == "namespace_export":
            yield Import(EXPORTED, statement.text(part.named_children[-1]), module, "", module, line)
    kinds = {child.type for child in node.children}
    if "*" in kinds and source:
        yield Import(EXPORTED, "*", module, "*", module, line)
    elif ("default" in kinds or "=" in kinds) and node.named_children:
        yield from _default(statement, node.child_by_field_name("value") or node.named_children[-1])


def _default(statement: Statement, value: "Node") -> Iterator[Import]:
    """Yield what `export default …` or `export = …` exports: a name, what is called default, or the file."""
    line = statement.line
    if value.type in ("identifier", "member_expression", "nested_identifier"):
        yield Import(EXPORTED, "default", "", statement.text(value), "", line)
    elif value.type in ("arrow_function", "function_expression", "class", "object"):
        yield Import(EXPORTED, "default", "", "default", "", line)
    else:
        yield Import(EXPORTED, "default", ITSELF, "", ITSELF, line)


def _declared(statement: Statement, declaration: "Node") -> Iterator[str]:
    if declaration.type == "ambient_declaration":
        for child in declaration.named_children:
            yield from _declared(statement, child)
    elif declaration.type in _DECLARED:
        yield statement.text(declaration.child_by_field_name("name"))
    elif declaration.type in ("lexical_declaration", "variable_declaration"):
        for declarator in declaration.named_children:
            if declarator.type == "variable_declarator":
                for _, name in _bound(statement, declarator.child_by_field_name("name")):
                    yield name


def _bound(statement: Statement, pattern: "Node | None") -> Iterator[tuple[str, str]]:
    """Yield (property, name) for what a pattern takes out of a value; a plain name takes all of it."""
    if pattern is None:
        return
    if pattern.type == "identifier":
        yield "", statement.text(pattern)
    for part in pattern.named_children if pattern.type == "object_pattern" else ():
        if part.type == "shorthand_property_identifier_pattern":
            yield statement.text(part), statement.text(part)
        elif part.type == "object_assignment_pattern" and part.named_children:
            name = statement.text(part.named_children[0])
            yield name, name
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if value and value.type == "identifier":
                yield statement.text(key).strip("\"'"), statement.text(value)


def _required(statement: Statement) -> Iterator[Import]:
    """Yield what `= require('x')`, `= require('x').y` and `= await import('x')` bind."""
    node, scope, line = statement.node, statement.scope, statement.line
    value = node.child_by_field_name("value")
    member = ""
    if value and value.type == "member_expression":
        member = statement.text(value.child_by_field_name("property"))
        value = value.child_by_field_name("object")
    awaited = value is not None and value.type == "await_expression"
    if value and awaited:
        value = value.named_children[0]
    module = _called_module(statement, value)
    names = list(_bound(statement, node.child_by_field_name("name")))
    whole = "" if awaited else "default"
    for wanted, name in names:
        symbol = ".".join(filter(None, (member, wanted))) or whole
        yield Import(scope, name, module, symbol, module, line)
    if not names:
        yield Import(scope, "", module, "", module, line)


def _called_module(statement: Statement, call: "Node | None") -> str:
    arguments = call.child_by_field_name("arguments") if call else None
    return _string(statement, arguments.named_children[0]) if arguments and arguments.named_children else ""


def _assigned(statement: Statement) -> Iterator[Import]:
    """Yield what `module.exports = …` and `exports.x = …` export; in `x = module.exports = …` that is x."""
    right, line = statement.node.child_by_field_name("right"), statement.line
    while right and right.type == "assignment_expression":  # exports = module.exports = x
        right = right.child_by_field_name("right")
    written = statement.text(statement.node.child_by_field_name("left")).removeprefix("module.")
    name = written.removeprefix("exports").removeprefix(".") or "default"
    if right is None:
        return
    if called := _given_to(statement, statement.node):
        yield Import(EXPORTED, name, "", called, "", line)
    elif right.type in ("identifier", "member_expression"):
        yield Import(EXPORTED, name, "", statement.text(right), "", line)
    elif right.type == "call_expression" and statement.text(right.child_by_field_name("function")) == "require":
        module = _called_module(statement, right)
        yield Import(EXPORTED, name, module, "default", module, line)
        if name == "default":
            yield Import(EXPORTED, "*", module, "*", module, line)
    elif name != "default":
        yield Import(EXPORTED, name, "", name, "", line)
    elif right.type == "object":
        yield from _members(statement, right)


def _given_to(statement: Statement, node: "Node") -> str:
    """Return the variable that gets the value of an assignment, too."""
    at = node.parent
    while at and at.type == "assignment_expression":
        at = at.parent
    return statement.text(at.child_by_field_name("name")) if at and at.type == "variable_declarator" else ""


def _members(statement: Statement, literal: "Node") -> Iterator[Import]:
    """Yield what `module.exports = {…}` exports: names of the file, or members of the object."""
    for part in literal.named_children:
        line = part.start_point.row + 1
        if part.type == "shorthand_property_identifier":
            name = statement.text(part)
            yield Import(EXPORTED, name, "", name, "", line)
        elif part.type == "method_definition":
            name = statement.text(part.child_by_field_name("name"))
            yield Import(EXPORTED, name, "", f"exports.{name}", "", line)
        elif part.type == "pair":
            name = statement.text(part.child_by_field_name("key")).strip("\"'")
            value = part.child_by_field_name("value")
            plain = value is not None and value.type in ("identifier", "member_expression")
            yield Import(EXPORTED, name, "", statement.text(value) if plain else f"exports.{name}", "", line)


def _string(statement: Statement, node: "Node | None") -> str:
    """Return a literal's text; nothing for what only running the program shows."""
    return statement.text(node)[1:-1] if node and node.type == "string" else ""
