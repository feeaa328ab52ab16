r"""ComFedL-MAML beside FedAvg on clients with a class of their own.

The preprint's figures 4, 5 and 6 (section 5.2).

Printed: CIFAR-10, a 4-layer convolutional network, 10 workers; worker i has a share ρ of class i
and (1 − ρ)/9 of each other class; ρ = 0.28 (figures 4 and 5), η = 0.05 (figures 5 and 6). "For fair
comparison, FedAvg is trained with one step at test time, and we tune the learning rate η to report
the best results."

Read so: in figure 4 both methods have their best rates of the journal's grid, ComFedL-MAML its
inner one too, as FedAvg's step at test time has its tuned rate; in figures 5 and 6 ComFedL-MAML has
the printed 0.05, and FedAvg its best one.

Chosen, because it is not printed: the inner learning rate 0.05 in figures 5 and 6 (the journal's,
for DAMAML); τ = 5 (the journal's default) and its values 1, 5, 10; ρ ∈ {0.2, 0.28, 0.6};
minibatches of 10; numbers of images and rounds. ``_personalised`` has what "better" means.
"""

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import experiment
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised

OURS, FEDAVG, PRINTED = "ComFedL-MAML", "FedAvg", "ComFedL-MAML, η = 0.05"


@experiment(
    name="comfedl/maml-cifar",
    source="ComFedL, preprint, section 5.2, figures 4, 5 and 6",
    statement="ComFedL-MAML is significantly better than FedAvg, much faster at larger τ, and "
    "better at every ρ, most at large ρ",
)
def maml(plan: study.Plan) -> study.Study:
    """Search both methods' rates, vary τ and ρ, and judge the sentences."""
    of = personalised.SIZES[plan.profile]
    base = of.base(plan)
    size = personalised.smaller(base)
    most = personalised.most_at_large_shares(
        "… especially when ρ is large", PRINTED, of.shares, size
    )
    varied = personalised.varied
    return study.Study(
        methods={OURS: base, FEDAVG: base.but(method=FEDAVG, step_size=0.1)},
        seeds=of.seeds,
        grids=personalised.GRIDS,
        budget=of.budget,
        besides=lambda chosen: {
            PRINTED: base,
            **varied({PRINTED: base}, "local_steps", of.gaps),
            **varied({PRINTED: base, FEDAVG: chosen[FEDAVG]}, "share", of.shares),
        },
        says=[
            study.Says(
                text="ComFedL-MAML outperforms FedAvg significantly",
                pairs=[(OURS, FEDAVG)],
                of=("accuracy", "loss"),
            ),
            personalised.faster(
                "ComFedL-MAML converges much faster when τ is increased", PRINTED, of.gaps
            ),
            personalised.at_every_share(
                "ComFedL-MAML consistently outperforms FedAvg over different ρ", PRINTED, of.shares
            ),
        ],
        size=size,
        setting=personalised.setting(base),
        shown=("accuracy", "worst", "loss"),
        figures=[
            *personalised.figures("ρ = 0.28", [OURS, PRINTED, FEDAVG]),
            study.Figure("gap", "τ varied", "accuracy", [(PRINTED, f"τ = {t}") for t in of.gaps]),
            study.Figure(
                "share",
                "ρ varied",
                "accuracy",
                [(name, f"ρ = {s:g}") for name in (PRINTED, FEDAVG) for s in of.shares],
            ),
        ],
        more=most,
    )
