"""Docstrings and class attributes, read from source files, since importing a network would import torch."""

from __future__ import annotations

import ast
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from zoo.errors import ConfigError


class Declared:
    """The source of a class, found by its dotted name. Raises ConfigError where there is none."""

    def __init__(self, dotted: str) -> None:
        self.module, self.node = _find(dotted)

    @property
    def document(self) -> str:
        """The docstring of the class's file."""
        return ast.get_docstring(_tree(self.module)) or ""

    def value(self, name: str) -> Any:
        """The class attribute `name`, a literal, of the class or a base class. Raises ConfigError where none has it."""
        found = self._value(name)
        if found is None:
            raise ConfigError(
                f"{self.module}.{self.node.name} has no `{name}`; add it as a class attribute with a plain value"
            )
        return found

    def _value(self, name: str) -> Any:
        for statement in self.node.body:
            given = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in given):
                value = getattr(statement, "value", None)
                if value is not None:
                    return self._literal(name, value)
        for base in map(ast.unparse, (b.value if isinstance(b, ast.Subscript) else b for b in self.node.bases)):
            try:
                above = Declared(f"{self.module}.{base}" if "." not in base else base)
            except ConfigError:  # a class of a library, which has no such attribute
                continue
            if (found := above._value(name)) is not None:
                return found
        return None

    def _literal(self, name: str, value: ast.expr) -> Any:
        try:
            return ast.literal_eval(value)
        except ValueError as error:
            where = f"{_file(self.module)}, line {value.lineno}"
            raise ConfigError(f"{where}: {name} is {ast.unparse(value)}; write it out as a plain value") from error


def _find(dotted: str) -> tuple[str, ast.ClassDef]:
    """The module that defines a class, and the definition. `dotted` may name a package that only imports the class."""
    module, _, name = dotted.rpartition(".")
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if name == (alias.asname or alias.name) and node.module != module:
                    return _find(f"{node.module}.{alias.name}")
    raise ConfigError(f"{dotted}: there is no class {name} in {_file(module)}")


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise ConfigError(f"{path}, line {error.lineno}: {error.msg}") from error


def _file(module: str) -> Path:
    """The file of a module. The packages above it are searched, not run."""
    first, *rest = module.split(".")
    try:
        spec = find_spec(first)
    except ValueError:  # a program that is run, such as __main__
        spec = None
    name = first
    for part in rest:
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, spec.submodule_search_locations) if spec else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ConfigError(f"{module}: there is no such module; is its folder on the PYTHONPATH?")
    return Path(spec.origin)
