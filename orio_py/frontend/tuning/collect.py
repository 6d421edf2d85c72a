"""What the statements of a specification have said so far, and the data made of it in the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.expr import Value, bind
from orio_py.core.registry import did_you_mean
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.frontend.objective import parse_objective
from orio_py.frontend.tuning.declarations import declared_input, declared_member, is_macro, macro_text
from orio_py.frontend.tuning.file_declarations import file_declarations
from orio_py.frontend.tuning.files import Files
from orio_py.frontend.tuning.sections import TIMERS
from orio_py.frontend.tuning.statements import Decl, Definition
from orio_py.frontend.tuning.values import check_name, parameter_values
from orio_py.spec.assumptions import Assumptions
from orio_py.spec.inputs import Declaration, ExternalFile, InputSpec
from orio_py.spec.objective import Objective
from orio_py.spec.parameter import Constraint, Parameter
from orio_py.spec.search import Budget, SearchSpec
from orio_py.spec.target import BuildSpec, DeviceTime
from orio_py.spec.task import MeasurementSpec


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an `arg` and its place."""

    value: Value
    position: Position


@dataclass(frozen=True, slots=True)
class Specification:
    """The data of one PerfTuning specification."""

    parameters: tuple[Parameter, ...]
    constraints: tuple[Constraint, ...]
    inputs: InputSpec
    build: BuildSpec
    measurement: MeasurementSpec
    search: SearchSpec
    assumptions: Assumptions


def _twice(what: str, position: Position, earlier: Position | None) -> DiagnosticError:
    note = Note("the first one is here", earlier)
    return DiagnosticError(Diagnostic("ORIO-S008", f"{what} is defined twice", position, notes=(note,)))


@dataclass(slots=True)
class Collected:
    """Settings by section, parameters, constraints and declarations, in the order written."""

    settings: dict[str, dict[str, Setting]] = field(default_factory=dict[str, dict[str, Setting]])
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    sizes: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    constraints: list[Constraint] = field(default_factory=list[Constraint])
    size_constraints: list[Constraint] = field(default_factory=list[Constraint])
    declarations: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    members: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    macros: list[str] = field(default_factory=list[str])
    places: dict[str, Position] = field(default_factory=dict[str, Position])

    def set(self, section: str, name: str, setting: Setting) -> None:
        """Take an `arg`.  Raises ORIO-S008."""
        table = self.settings.setdefault(section, {})
        if name in table:
            raise _twice(f"`arg {name}`", setting.position, table[name].position)
        table[name] = setting

    def parameter(self, section: str, parsed: Definition, value: Value, problems: list[Diagnostic]) -> None:
        """Take a `param` or `option`.  Raises ORIO-S006, S008, S009, S010."""
        option = parsed.name if parsed.keyword == "option" else None
        name = re.sub(r"\W", "_", parsed.name.lstrip("-")) if option is not None else parsed.name
        if option is not None and re.fullmatch(r"--?[A-Za-z][\w-]*", option) is None:
            message = f"`option` needs a flag such as '-x', not {option[:40]!r}"
            raise DiagnosticError(Diagnostic("ORIO-S006", message, parsed.position))
        check_name(name, parsed.position, is_size=section == "input_params")
        known = {**self.parameters, **self.sizes}
        if name in known:
            raise _twice(f"parameter `{name}`", parsed.position, known[name].position)
        is_list = parsed.is_list or option is not None
        if section == "input_params" and not is_list and isinstance(value, (list, tuple)):
            message = f"the size `{name}` is one number; several ones are `param {name}[] = …`"
            raise DiagnosticError(Diagnostic("ORIO-S010", message, parsed.position))
        values = parameter_values(name, value, is_list, parsed.position, problems)
        table = self.sizes if section == "input_params" else self.parameters
        table[name] = Parameter(name, values, parsed.position, option)

    def constrain(self, section: str, parsed: Definition, lets: Mapping[str, Value]) -> None:
        """Take a `constraint`; earlier `let`s are put in for their names."""
        expression = bind(parsed.expression, lets)
        constraint = Constraint(parsed.name, expression, parsed.position)
        (self.size_constraints if section == "input_params" else self.constraints).append(constraint)

    def declare(self, parsed: Decl) -> None:
        """Take a `decl`.  Raises ORIO-S008, S013, S014."""
        if is_macro(parsed):
            self.macros.append(macro_text(parsed))
            return
        declared = declared_member(parsed) if parsed.members else declared_input(parsed)
        table = self.members if parsed.members else self.declarations
        if declared.name in table:
            raise _twice(f"variable `{declared.name}`", parsed.name_position, table[declared.name].position)
        table[declared.name] = declared

    def finish(self, files: Files, problems: list[Diagnostic]) -> Specification:
        """The specification.  Problems: ORIO-S004, S007, S015, S016."""
        return _Finisher(self, files, problems).finish()


@dataclass(slots=True)
class _Finisher:
    """Turns what was collected into the data classes of `orio_py.spec`."""

    collected: Collected
    files: Files
    problems: list[Diagnostic]

    def finish(self) -> Specification:
        build = self._build()
        return Specification(
            tuple(self.collected.parameters.values()),
            tuple(self.collected.constraints),
            self._inputs(build),
            build,
            self._measurement(),
            self._search(),
            self._assumptions(),
        )

    def _get(self, section: str, name: str) -> Value:
        setting = self.collected.settings.get(section, {}).get(name)
        return setting.value if setting is not None else None

    def _text(self, section: str, name: str) -> str | None:
        value = self._get(section, name)
        return value if isinstance(value, str) and value.strip() else None

    def _integer(self, section: str, name: str) -> int | None:
        value = self._get(section, name)
        return value if isinstance(value, int) else None

    def _file(self, section: str, name: str) -> ExternalFile | None:
        setting = self.collected.settings.get(section, {}).get(name)
        if setting is None or not isinstance(setting.value, str):
            return None
        try:
            return self.files.external(name, setting.value, setting.position)
        except DiagnosticError as error:
            self.problems.extend(error.diagnostics)
            return None

    def _validation_file(self) -> ExternalFile | None:
        """The file that judges results; one that is not there is left out with a warning, as they are compared in any case."""
        setting = self.collected.settings.get("validation", {}).get("validation_file")
        if setting is None or not isinstance(setting.value, str) or self.files.has(setting.value):
            return self._file("validation", "validation_file")
        message = f"there is no file `{setting.value}`; results are compared with the original's alone"
        self._warn("ORIO-S015", message, setting.position)
        return None

    def _inputs(self, build: BuildSpec) -> InputSpec:
        found = self.collected
        seed = self._integer("input_vars", "seed")
        if seed is None:
            seed = self._integer("performance_counter", "random_seed")
        decl_file, init_file = self._file("input_vars", "decl_file"), self._file("input_vars", "init_file")
        files = [file for file in (decl_file, init_file) if file is not None]
        return InputSpec(
            parameters=tuple(found.sizes.values()),
            constraints=tuple(found.size_constraints),
            specialize=self._specialize(),
            declarations=tuple(found.declarations.values()),
            macros=tuple(found.macros),
            members=tuple(found.members.values()),
            file_declarations=file_declarations(files, build),
            decl_file=decl_file,
            init_file=init_file,
            seed=1 if seed is None else seed,
        )

    def _specialize(self) -> tuple[str, ...]:
        setting = self.collected.settings.get("input_params", {}).get("specialize")
        names = tuple(self.collected.sizes)
        if setting is None or setting.value is False:
            return ()
        if not isinstance(setting.value, (list, tuple)):
            return names
        chosen = tuple(name for name in setting.value if isinstance(name, str))
        for name in chosen:
            if name not in names:
                message = f"`specialize` names `{name[:40]}`, which is no input parameter"
                near = did_you_mean(name, names)
                self.problems.append(Diagnostic("ORIO-S006", message, setting.position, help=near))
        return tuple(dict.fromkeys(chosen))

    def _build(self) -> BuildSpec:
        place = self.collected.places.get("build")
        command = self._text("build", "build_command")
        compiler = self._text("build", "CC")
        if command is None:
            command = f"{compiler} -O3" if compiler is not None else None
        elif compiler is not None:
            setting = self.collected.settings["build"]["CC"]
            message = "`arg CC` has no effect beside `build_command`"
            self._warn("ORIO-S007", message, setting.position)
        default = BuildSpec()
        return BuildSpec(
            command=command or default.command,
            libs=self._text("build", "libs") or "",
            prebuild=self._text("build", "prebuild_command"),
            postbuild=self._text("build", "postbuild_command"),
            postrun=self._text("build", "postrun_command"),
            position=place,
            is_default=command is None,
        )

    def _measurement(self) -> MeasurementSpec:
        method = self.collected.settings.get("performance_counter", {}).get("method")
        default = MeasurementSpec()
        return MeasurementSpec(
            repetitions=self._integer("performance_counter", "repetitions") or default.repetitions,
            tolerance=self._tolerance(),
            validation_file=self._validation_file(),
            skeleton_file=self._file("performance_test_code", "skeleton_code_file"),
            methods=self._methods(method),
            methods_position=method.position if method is not None else None,
            objective=self._objective(),
            time=DeviceTime(self._text("performance_counter", "time") or default.time),
        )

    def _methods(self, setting: Setting | None) -> tuple[str, ...]:
        """The observers named; the basic timer is always used, and the methods of old machines are not.

        Orio writes `TAU` in capitals.
        """
        if setting is None:
            return ()
        value = setting.value
        named = [n for n in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(n, str)]
        names = ["tau" if name == "TAU" else name for name in named]
        for name in names:
            if name in TIMERS and name != "basic timer":
                message = f"method {name!r} is not available; the basic timer is used"
                self._warn("ORIO-S007", message, setting.position)
        return tuple(dict.fromkeys(name for name in names if name not in TIMERS))

    def _objective(self) -> Objective | None:
        setting = self.collected.settings.get("performance_counter", {}).get("objective")
        if setting is None:
            return None
        value = setting.value
        texts = [v for v in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(v, str)]
        try:
            return parse_objective(texts, setting.position)
        except DiagnosticError as error:
            self.problems.extend(error.diagnostics)
            return None

    def _tolerance(self) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for name, types in (
            ("tolerance", ("float", "double", "long double")),
            ("tolerance_double", ("double",)),
            ("tolerance_float", ("float",)),
        ):
            value = self._get("validation", name)
            pair = value if isinstance(value, tuple) else (value, 0.0)
            relative, absolute = pair
            if isinstance(relative, (int, float)) and isinstance(absolute, (int, float)):
                found.update(dict.fromkeys(types, (float(relative), float(absolute))))
        return found

    def _assumptions(self) -> Assumptions:
        settings = self.collected.settings.get("assumptions", {})
        noalias = settings.get("noalias")
        names: bool | frozenset[str] = False
        if noalias is not None and isinstance(noalias.value, (list, tuple)):
            names = frozenset(name for name in noalias.value if isinstance(name, str))
        elif noalias is not None:
            names = noalias.value is True
        return Assumptions(
            noalias=names,
            reassociate=self._get("assumptions", "reassociate") is True,
            calls=self._get("assumptions", "calls") is True,
            longer=self._get("assumptions", "longer") is True,
            position=noalias.position if noalias is not None else None,
        )

    def _search(self) -> SearchSpec:
        settings = self.collected.settings.get("search", {})
        algorithm = self._text("search", "algorithm") or SearchSpec().algorithm
        runs = self._integer("search", "total_runs")
        minutes = self._get("search", "time_limit")
        return SearchSpec(
            algorithm=algorithm,
            options=self._options(algorithm, settings),
            budget=Budget(
                trials=runs if runs is not None and runs > 0 else None,
                time=Seconds(minutes * 60.0) if isinstance(minutes, (int, float)) and minutes > 0 else None,
            ),
            position=self.collected.places.get("search"),
        )

    def _options(self, algorithm: str, settings: Mapping[str, Setting]) -> dict[str, Value]:
        """Options named `<algorithm>_<option>`, without the prefix; `seed` stands for itself."""
        own = {algorithm.lower(), algorithm.lower().removesuffix("search")}
        options: dict[str, Value] = {}
        for name, setting in settings.items():
            prefix, _, option = name.partition("_")
            if name == "seed":
                options["seed"] = setting.value
            elif name in ("algorithm", "time_limit", "total_runs", "use_z3", "resume"):
                continue
            elif prefix.lower() in own:
                options[option] = setting.value
            else:
                message = f"`arg {name}` has no effect with algorithm '{algorithm[:40]}'"
                self._warn("ORIO-S007", message, setting.position)
        return options

    def _warn(self, code: str, message: str, position: Position | None) -> None:
        self.problems.append(Diagnostic(code, message, position, severity=Severity.WARNING))
